program column
  implicit none
  integer, parameter :: n = 200
  real(8), save :: a(n, n)
  a = 1
  call rows(a, n)
contains
  subroutine rows(x, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n, n)
    integer :: i, j
    do i = 1, n
      do j = 1, n
        x(i, j) = x(i, j) * 2
      end do
    end do
  end subroutine
end program

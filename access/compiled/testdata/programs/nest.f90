! A nest of loops over three arrays, by rows, which is across the columns.
subroutine blend(a, b, c, n)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: a(n, n), b(n, n)
  real(8), intent(inout) :: c(n, n)
  integer :: i, j
  do i = 2, n - 1
    do j = 2, n - 1
      c(i, j) = c(i, j) + 0.5d0 * (a(i, j - 1) + a(i, j + 1)) + b(j, i)
    end do
  end do
end subroutine

program nest
  implicit none
  integer, parameter :: n = 500
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  allocate(a(n, n), b(n, n), c(n, n))
  a = 1
  b = 2
  c = 0
  call blend(a, b, c, n)
  if (c(2, 2) < 0) stop 1
end program

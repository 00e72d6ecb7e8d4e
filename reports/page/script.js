"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => {
      const cell = row.cells[column];
      return "sort" in cell.dataset ? Number(cell.dataset.sort) : cell.textContent;
    };
    const compare = (a, b) => {
      if (a === "" || b === "") return (a === "") - (b === ""); // what is missing comes last
      const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true});
      return down ? -order : order;
    };
    body.append(...[...body.rows].map(row => [key(row), row]).sort((a, b) => compare(a[0], b[0])).map(pair => pair[1]));
  }));
}
const filter = document.getElementById("filter");
if (filter) { // a row is shown that has each word somewhere, or whose table has it in its name
  const families = [...document.querySelectorAll(".family")];
  filter.querySelector("input").addEventListener("input", event => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(word => word);
    let shown = 0;
    for (const family of families) {
      const about = [...family.querySelectorAll("h3, .note")].map(e => e.textContent).join(" ");
      let some = 0;
      for (const row of family.querySelectorAll("tbody tr")) {
        const text = (about + " " + [...row.cells].map(c => c.textContent).join(" ")).toLowerCase();
        row.hidden = !words.every(word => text.includes(word));
        some += !row.hidden;
      }
      family.hidden = some === 0;
      const fold = family.querySelector("details");
      if (fold && words.length > 0 && some > 0) fold.open = true;
      shown += some;
    }
    filter.querySelector("span").textContent = words.length > 0 ? shown + (shown === 1 ? " row" : " rows") : "";
  });
  filter.hidden = false;
}
for (const box of document.querySelectorAll(".scroll")) {
  const mark = () => {
    const hidden = box.scrollWidth - box.clientWidth;
    box.classList.toggle("over", hidden > 1);
    box.classList.toggle("more", hidden - box.scrollLeft > 1);
  };
  box.addEventListener("scroll", mark, {passive: true});
  new ResizeObserver(mark).observe(box); // now, when it is unfolded, and when the window changes
}
const button = document.getElementById("theme");
if (button) {
  const themes = [["", "as the system"], ["light", "light"], ["dark", "dark"]];
  const show = theme => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    button.querySelector("span").textContent = themes.find(t => t[0] === theme)[1];
  };
  button.addEventListener("click", () => {
    const now = themes.findIndex(t => t[0] === (document.documentElement.dataset.theme || ""));
    show(themes[(now + 1) % themes.length][0]);
  });
  show(document.documentElement.dataset.theme || "");
  button.hidden = false;
}

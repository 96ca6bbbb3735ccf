"use strict";

// The page is whole without this script: tables in their order, every trial's timeline shown.

const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Compare two cells; what is missing comes last in both directions. */
function compared(one, other, direction) {
  const gone = Number("missing" in one.dataset) - Number("missing" in other.dataset);
  if (gone !== 0) return gone;
  if ("value" in one.dataset && "value" in other.dataset) {
    return direction * (Number(one.dataset.value) - Number(other.dataset.value));
  }
  return direction * words.compare(one.textContent, other.textContent);
}

/** Sort a table by a column; a second time turns the direction around. */
function sortBy(table, heading) {
  const ascending = heading.getAttribute("aria-sort") !== "ascending";
  const column = heading.cellIndex;
  const rows = Array.from(table.tBodies[0].rows);
  rows.sort((one, other) => compared(one.cells[column], other.cells[column], ascending ? 1 : -1));
  for (const row of rows) table.tBodies[0].append(row);
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
}

/** Turn the column headings of a table into buttons. */
function makeSortable(table) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, heading));
    heading.append(button);
  }
  for (const hint of table.querySelectorAll("caption [hidden]")) hint.hidden = false;
}

/** Show one trial's timeline at a time: the one that is picked. */
function makePickable(picker) {
  const select = picker.querySelector("select");
  const status = picker.querySelector("[role=status]");
  const timelines = Array.from(picker.parentElement.querySelectorAll("[data-timeline]"));
  const show = () => {
    timelines.forEach((timeline, number) => { timeline.hidden = number !== select.selectedIndex; });
  };
  const step = (by) => {
    const count = select.options.length;
    select.selectedIndex = (select.selectedIndex + by + count) % count;
    status.textContent = select.value;
    show();
  };
  select.addEventListener("change", show);
  for (const button of picker.querySelectorAll("button")) {
    button.addEventListener("click", () => step(Number(button.dataset.step)));
  }
  picker.hidden = false;
  show();
}

document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
document.querySelectorAll("[data-picker]").forEach(makePickable);

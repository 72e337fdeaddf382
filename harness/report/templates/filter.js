"use strict";
(() => {
  const form = document.querySelector("form.filter");
  const statements = [...document.querySelectorAll("details.statement")];
  const groups = [...document.querySelectorAll("section.group")];
  const expand = form.elements.expand;
  form.hidden = false;

  const visible = () => statements.filter((item) => !item.hidden);

  function apply() {
    const data = new FormData(form);
    const words = data.get("text").toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = new Set(data.getAll("verdict"));
    const column = data.get("column");
    for (const group of groups) {
      const wanted = !data.get("group") || group.dataset.group === data.get("group");
      for (const item of group.querySelectorAll("details.statement")) {
        item.hidden = !wanted || !verdicts.has(item.dataset.verdict)
          || (column && item.dataset.column !== column)
          || !words.every((word) => item.dataset.words.includes(word));
      }
      group.hidden = !group.querySelector("details.statement:not([hidden])");
    }
    form.querySelector("output").textContent = `${visible().length} of ${statements.length} shown`;
  }

  function follow() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.matches("details")) target.open = true;
    if (target.hidden || target.closest("[hidden]")) {
      form.reset();
      for (const box of form.querySelectorAll("[name=verdict]")) box.checked = true;
      apply();
    }
    target.scrollIntoView();
  }

  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  expand.addEventListener("click", () => {
    const open = expand.textContent === "expand all";
    for (const item of visible()) item.open = open;
    expand.textContent = open ? "collapse all" : "expand all";
  });
  addEventListener("hashchange", follow);
  apply();
  follow();
})();

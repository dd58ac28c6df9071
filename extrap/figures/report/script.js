"use strict";
(() => {
  const all = (what, from = document) => [...from.querySelectorAll(what)];
  const one = (id) => document.getElementById(id);
  document.documentElement.classList.add("scripted");
  all("[data-script]").forEach((bar) => { bar.hidden = false; });

  // Choosers: one view at a time.
  const views = all(".view");
  const distinct = (values) => [...new Set(values)];
  const fill = (select, values, words = (v) => v) => {
    const before = select.value;
    select.replaceChildren(...values.map((value) => new Option(words(value), value)));
    if (values.includes(before)) select.value = before;
    select.parentElement.hidden = values.length < 2;
  };
  const show = () => {
    const ofKind = views.filter((v) => v.dataset.kind === one("kind").value);
    fill(one("score"), distinct(ofKind.map((v) => v.dataset.score)));
    const ofScore = ofKind.filter((v) => v.dataset.score === one("score").value);
    fill(one("length"), distinct(ofScore.map((v) => v.dataset.length)), (n) => n + " tokens");
    views.forEach((v) => {
      const chosen = ofScore.includes(v) && v.dataset.length === one("length").value;
      v.classList.toggle("off", !chosen);
    });
    tell(null);
  };
  const kinds = distinct(views.map((v) => v.dataset.kind));
  all("option", one("kind")).forEach((o) => { if (!kinds.includes(o.value)) o.remove(); });
  ["kind", "score", "length"].forEach((id) => one(id).addEventListener("change", show));

  // Series on and off, in charts and the leaderboard.
  const boxes = all(".switches input");
  const filters = all("[data-filter]");
  const tally = () => {
    if (!filters.length) return;
    one("count").textContent = `${boxes.filter((box) => box.checked).length} of ${boxes.length} series`;
  };
  const set = (box) => {
    all(`.s[data-s="${box.dataset.s}"]`).forEach((s) => s.classList.toggle("off", !box.checked));
    tally();
  };
  boxes.forEach((box) => box.addEventListener("change", () => set(box)));
  [["all", true], ["none", false]].forEach(([id, on]) => one(id).addEventListener("click", () => {
    filters.forEach((filter) => { filter.value = ""; });
    boxes.forEach((box) => { box.checked = on; set(box); });
  }));
  const passes = (box) => filters.every((filter) => (
    !filter.value || box.dataset[filter.dataset.filter] === filter.value
  ));
  filters.forEach((filter) => filter.addEventListener("change", () => {
    boxes.forEach((box) => { box.checked = passes(box); set(box); });
  }));
  tally();

  // What a point is: by the pointer, and by the arrow keys of a chart in focus.
  const tip = one("tip");
  let near = null;
  all(".chart use").forEach((point) => {
    const title = point.querySelector("title");
    if (title) { point.dataset.t = title.textContent; title.remove(); }
  });
  function tell(point) {
    if (near) near.classList.remove("near");
    near = point;
    tip.hidden = !point;
    if (!point) return;
    point.classList.add("near");
    tip.textContent = point.dataset.t;
    const at = point.getBoundingClientRect();
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(4, at.x + at.width / 2 - box.width / 2), innerWidth - box.width - 4);
    const top = at.y - box.height - 8 < 4 ? at.y + at.height + 8 : at.y - box.height - 8;
    tip.style.transform = `translate(${left}px, ${top}px)`;
  }
  const points = (chart) => all(".s:not(.off) use", chart);
  const place = (p) => [Number(p.getAttribute("x")), Number(p.getAttribute("y"))];
  const nearest = (chart, x, y, skip = () => false) => {
    let best = null;
    let least = Infinity;
    for (const point of points(chart)) {
      if (skip(point)) continue;
      const [a, b] = place(point);
      const far = Math.hypot(a - x, b - y);
      if (far < least) { least = far; best = point; }
    }
    return best;
  };
  all(".chart").forEach((chart) => {
    const view = chart.viewBox.baseVal;
    chart.addEventListener("pointermove", (event) => {
      const box = chart.getBoundingClientRect();
      const scale = view.width / box.width;
      tell(nearest(chart, (event.clientX - box.x) * scale, (event.clientY - box.y) * scale));
    });
    chart.addEventListener("pointerleave", () => tell(null));
    chart.addEventListener("blur", () => tell(null));
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
      if (event.key === "Escape") tell(null);
      if (!step) return;
      event.preventDefault();
      if (!near || !chart.contains(near)) { tell(points(chart)[0] || null); return; }
      const own = near.parentElement;
      const line = all("use", own);
      if (step[0]) {
        tell(line[line.indexOf(near) + step[0]] || near);
      } else {
        const groups = all(".s:not(.off)", chart);
        const other = groups[groups.indexOf(own) + step[1]];
        if (!other) return;
        const [x] = place(near);
        tell(all("use", other).reduce((a, b) => (
          Math.abs(place(a)[0] - x) <= Math.abs(place(b)[0] - x) ? a : b
        )));
      }
    });
  });

  // Tables that sort: numbers by value, what has none last.
  all("table.sorts").forEach((table) => {
    const body = table.tBodies[0];
    all("th", table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        all("th", table).forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => row.cells[column];
        const sign = down ? -1 : 1;
        const order = (a, b) => {
          const [x, y] = [a, b].map((row) => key(row).dataset.v);
          if (x !== undefined && y !== undefined) return sign * (Number(x) - Number(y));
          if (x !== undefined || y !== undefined) return x === undefined ? 1 : -1;
          return sign * key(a).textContent.localeCompare(key(b).textContent);
        };
        body.append(...[...body.rows].sort(order));
      });
    });
  });

  show();
})();

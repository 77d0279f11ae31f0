// A table that sorts, filters and turns pages; only one page of rows is in the document at a time.

const PAGE = window.matchMedia("(max-width: 640px)").matches ? 10 : 25;
const MOST_PRINTED = 1000;
const tables = [];

function makeTable(host, options) {
  const { caption, noun, count, words, detail } = options;
  const columns = options.columns.filter((each) => !each.hidden);
  const filters = options.filters || [];
  const opened = new Set();
  const haystack = once(() => Array.from({ length: count }, (_, k) => words(k).toLowerCase()));
  let order = Uint32Array.from({ length: count }, (_, k) => k);
  let sorted = options.sorted || null;
  let page = 0;
  let rowsPerPage = PAGE;

  const search = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const tools = element("div", { class: "tools" }, element("label", null, `Find ${noun}s`, search));
  const boxes = filters.map(({ label }) => {
    const box = element("input", { type: "checkbox" });
    box.addEventListener("change", arrange);
    tools.append(element("label", null, box, label));
    return box;
  });
  const save = element("button", { type: "button", class: "save" });
  save.addEventListener("click", () => download(`${noun}s.csv`, asCsv()));
  tools.append(save);
  const heads = columns.map((each, c) => {
    const button = element("button", { type: "button" }, each.title);
    button.addEventListener("click", () => sortBy(c));
    return element("th", { scope: "col", role: "columnheader", class: each.numeric && !each.left ? "number" : "" }, button);
  });
  // Narrow screens lay rows out as cards; the roles keep it a table for those who hear it.
  const body = element("tbody", { role: "rowgroup" });
  const table = element(
    "table", { role: "table" }, element("caption", { class: "unseen" }, caption),
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...heads)), body,
  );
  const status = element("span", { role: "status" });
  const turn = ["First", "Previous", "Next", "Last"].map((label) => element("button", { type: "button" }, label));
  turn.forEach((button, k) => button.addEventListener("click", () => turnTo([0, page - 1, page + 1, Infinity][k])));
  const pager = element("div", { class: "pager", role: "group", "aria-label": `Pages of ${noun}s` }, status, ...turn);
  const scroller = element("div", { class: "scroller stack", tabindex: "0", role: "region", "aria-label": caption }, table);
  host.replaceChildren(tools, scroller, pager);

  // Sort keys: numbers as they are, texts by their place in the alphabet; what is not known comes last either way.
  function keysOf(each) {
    if (!each.keys) each.keys = once(() => {
      if (each.numeric) return Float64Array.from({ length: count }, (_, k) => each.value(k));
      const texts = Array.from({ length: count }, (_, k) => each.value(k));
      const compare = new Intl.Collator("en", { numeric: true }).compare;
      const places = Uint32Array.from(texts.keys()).sort((a, b) => compare(texts[a], texts[b]) || a - b);
      const keys = new Float64Array(count);
      places.forEach((k, place) => { keys[k] = place && !compare(texts[k], texts[places[place - 1]]) ? keys[places[place - 1]] : place; });
      return keys;
    });
    return each.keys();
  }

  function arrange() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = wanted.length ? haystack() : null;
    const kept = [];
    for (let k = 0; k < count; k++) {
      if (filters.some(({ keep }, f) => boxes[f].checked && !keep(k))) continue;
      if (texts && !wanted.every((word) => texts[k].includes(word))) continue;
      kept.push(k);
    }
    order = Uint32Array.from(kept);
    if (sorted) {
      const keys = keysOf(columns[sorted.column]);
      const sign = sorted.up ? 1 : -1;
      const far = sign * Infinity;
      const key = (k) => (Number.isNaN(keys[k]) ? far : keys[k]);
      order.sort((a, b) => sign * (key(a) - key(b)) || a - b);
    }
    page = 0;
    show();
  }

  function sortBy(c) {
    sorted = { column: c, up: sorted && sorted.column === c ? !sorted.up : !columns[c].largeFirst };
    arrange();
  }

  function turnTo(wanted) {
    const last = Math.max(0, Math.ceil(order.length / rowsPerPage) - 1);
    page = Math.min(Math.max(0, wanted), last);
    show();
  }

  function show() {
    const begin = page * rowsPerPage;
    const rows = order.subarray(begin, begin + rowsPerPage);
    body.replaceChildren();
    for (const k of rows) {
      body.append(row(k));
      if (opened.has(k)) body.append(detailRow(k));
    }
    heads.forEach((head, c) => {
      if (sorted && sorted.column === c) head.setAttribute("aria-sort", sorted.up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    const last = Math.max(0, Math.ceil(order.length / rowsPerPage) - 1);
    turn.forEach((button, k) => {
      button.disabled = k < 2 ? page === 0 : page >= last;
      button.hidden = last === 0;
    });
    const of = order.length < count ? `${MANY.format(order.length)} found of ${MANY.format(count)}` : MANY.format(count);
    save.textContent = `Download ${MANY.format(order.length)} ${order.length === 1 ? "row" : "rows"} (CSV)`;
    save.disabled = order.length === 0;
    status.textContent = rows.length ? `${MANY.format(begin + 1)} to ${MANY.format(begin + rows.length)} of ${of}` : `No ${noun} found`;
  }

  function row(k) {
    const made = element("tr", { role: "row", "data-row": k });
    columns.forEach((each, c) => {
      const cell = c
        ? element("td", { role: "cell", class: each.numeric && !each.left ? "number" : "", "data-label": each.title })
        : element("th", { role: "rowheader", scope: "row" });
      if (!c && detail) {
        const button = element("button", { type: "button", class: "open", "aria-expanded": String(opened.has(k)) }, each.cell(k));
        button.addEventListener("click", () => toggle(k, made, button));
        cell.append(button);
      } else {
        cell.append(c ? element("div", { class: "value" }, each.cell(k)) : each.cell(k));
        cell.classList.toggle("blank", !cell.textContent);
      }
      made.append(cell);
    });
    return made;
  }

  function detailRow(k) {
    return element("tr", { role: "row", class: "detail" }, element("td", { role: "cell", colspan: columns.length }, detail(k)));
  }

  function toggle(k, made, button) {
    if (opened.delete(k)) made.nextElementSibling.remove();
    else { opened.add(k); made.after(detailRow(k)); }
    button.setAttribute("aria-expanded", String(opened.has(k)));
  }

  // All rows that the filters leave, in the order shown.
  function asCsv() {
    const saved = options.columns.filter((each) => each.csv);
    const quoted = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const lines = [saved.map((each) => each.field)];
    for (const k of order) lines.push(saved.map((each) => quoted(String(each.csv(k)))));
    return lines.map((cells) => `${cells.join(",")}\r\n`).join("");
  }

  // Turn to the page of a row, without filters if they hide it, and open it.
  function reveal(k) {
    if (!order.includes(k)) {
      search.value = "";
      boxes.forEach((box) => { box.checked = false; });
      arrange();
    }
    opened.add(k);
    turnTo(Math.floor(order.indexOf(k) / rowsPerPage));
    const button = body.querySelector(`tr[data-row="${k}"] button.open`);
    button.focus({ preventScroll: true });
    button.scrollIntoView({ block: "start" });
  }

  search.addEventListener("input", arrange);
  tables.push({
    print() { rowsPerPage = MOST_PRINTED; page = 0; show(); },
    screen() { rowsPerPage = PAGE; page = 0; show(); },
  });
  if (sorted) arrange();
  else show();
  return { reveal };
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

"use strict";
// Which rows a filter leaves, in the order it asks for.
function chosen(rows, filter) {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const left = rows.filter((row) => {
    if (filter.phase && row.phase !== filter.phase) return false;
    if (filter.outcome && row.outcome !== filter.outcome) return false;
    if (filter.from !== null && row.step < filter.from) return false;
    if (filter.to !== null && row.step > filter.to) return false;
    if (!words.length) return true;
    const all = (row.id + " " + row.task + " " + (row.said || []).map((one) => one[1]).join(" ")).toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const key = filter.order.replace("-", "");
  if (!key) return left;
  // Reward alone is asked for from above without a sign; what has none comes last either way.
  const down = key === "reward" ? filter.order === "reward" : true;
  const rank = (row) => (row[key] === null ? -Infinity : down ? row[key] : -row[key]);
  return left.map((row, at) => [row, at]).sort((a, b) => rank(b[0]) - rank(a[0]) || a[1] - b[1]).map((pair) => pair[0]);
}

function page() {
  const MOST = 200;
  const rows = JSON.parse(document.getElementById("data").textContent);
  const field = (name) => document.getElementById(name);
  const make = (tag, words, kind) => {
    const made = document.createElement(tag);
    if (words !== undefined) made.textContent = words;
    if (kind) made.className = kind;
    return made;
  };
  for (const name of ["phase", "outcome"]) {
    for (const value of [...new Set(rows.map((row) => row[name]))]) {
      const option = make("option", value);
      option.value = value;
      field(name).append(option);
    }
  }
  const shown = (row) => {
    const card = make("details", undefined, "card");
    const reward = row.reward === null ? "no reward" : "reward " + Math.round(row.reward * 1000) / 1000;
    const head = make("summary");
    const good = row.outcome === "solved" ? "badge good" : row.outcome.startsWith("policy") ? "badge bad" : "badge";
    head.append(make("code", row.id), " ", make("span", row.outcome, good), " ");
    head.append(make("span", `${reward}, ${row.turns} turns, ${row.tokens} tokens, size ${row.size}, task ${row.task}`, "soft"));
    card.append(head);
    card.addEventListener("toggle", () => {
      if (card.childElementCount > 1) return;
      if (!row.said) card.append(make("p", `Its text is not on this page: merit show RUN --episode ${row.id}`));
      for (const [who, text] of row.said || []) {
        const line = make("div", undefined, "say");
        const body = make("div");
        body.append(make("div", text, "text"));
        line.append(make("div", who, "who"), body);
        card.append(line);
      }
    });
    return card;
  };
  const number = (name) => (field(name).value === "" ? null : Number(field(name).value));
  const show = () => {
    const filter = { from: number("from"), to: number("to") };
    for (const name of ["phase", "outcome", "text", "order"]) filter[name] = field(name).value;
    const left = chosen(rows, filter);
    const more = left.length > MOST ? `; the first ${MOST} are shown` : "";
    field("count").textContent = `${left.length} of ${rows.length} episodes${more}`;
    field("list").replaceChildren(...left.slice(0, MOST).map(shown));
  };
  field("filter").addEventListener("input", show);
  field("filter").addEventListener("submit", (event) => event.preventDefault());
  show();
}

if (typeof document !== "undefined") page();

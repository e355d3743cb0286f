// The explorer: filters, below them a list of cases, beside it one conversation.
//
// Everything it shows comes from a source, which answers with promises:
//   rows(wanted, from, most)          {total, failures, from, rows}
//   conversation(place)               HTML in which Python has escaped every text
//   step(wanted, place, turn, by)     {place, turn, line, number}, or null where there is no further failure
//   chosen(place, turn)               told when the reader has gone somewhere; answers nothing
// `start` has the first answers in it, so that the first sight needs no question.

function holodeckExplorer(root, source, start) {
  const LINE = 50, BLOCK = 100, SLOW = 1500;
  const serial = (holodeckExplorer.count = (holodeckExplorer.count || 0) + 1);
  const state = {
    wanted: { status: "", text: "", metric: "", reason: "", ...start.wanted },
    total: 0, failures: 0, rows: new Map(), asked: new Set(),
    line: -1, place: -1, turn: null, number: 0, filtering: 0, opening: 0, shown: -1, moves: 0,
  };

  // Texts become text nodes here; `innerHTML` is used for conversations alone.
  function make(tag, attributes = {}, ...inner) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...inner);
    return node;
  }
  const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  // ---- what there is on the page

  const search = make("input", {
    type: "search", placeholder: "Search", "aria-label": "Search names, inputs, replies, calls and reasons",
    title: "Names, inputs, replies, ground truths, calls with their arguments, reasons", value: state.wanted.text,
  });
  const selects = {
    status: choose("status", "Status", "any status"),
    metric: choose("metric", "Failing metric", "any metric"),
    reason: choose("reason", "Failing reason", "any reason"),
  };
  const clear = make("button", { type: "button", class: "clear", title: "Show every case again" }, "Clear");
  const count = make("div", { class: "count", role: "status", "aria-live": "polite" });
  const space = make("div", { class: "space", role: "presentation" });
  const list = make("div", {
    class: "list", role: "listbox", tabindex: "0", "aria-label": "Cases", "data-testid": "cases",
  }, space);
  const previous = make("button", { type: "button", title: "Previous failure (p)" }, "‹ Previous failure");
  const next = make("button", { type: "button", title: "Next failure (n)" }, "Next failure ›");
  const where = make("span", { class: "where", role: "status", "aria-live": "polite" });
  const unfold = make("button", { type: "button", class: "unfold" }, "Unfold all");
  const conversation = make("div", {
    class: "reading", role: "region", tabindex: "0", "aria-label": "Conversation", "data-testid": "conversation",
  });
  const KEYS = [["↑ ↓", "choose"], ["Enter", "read"], ["Esc", "back"], ["n p", "next, previous failure"], ["/", "search"]];
  const hint = make("div", { class: "hint" }, ...KEYS.flatMap(([key, does]) => [make("kbd", {}, key), ` ${does}  `]));
  root.classList.add("hn-explorer", "holodeck-nb");
  // Else Jupyter takes the keys: `d d` deletes the cell. It looks at the element that has the focus.
  root.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  root.append(
    make("div", { class: "filters", role: "search" }, search, ...Object.values(selects), clear),
    make("div", { class: "panes" },
      make("div", { class: "cases" }, count, list),
      make("div", { class: "detail" },
        make("div", { class: "walk" }, previous, next, where, unfold), conversation)),
    hint,
  );

  function choose(name, label, any) {
    const select = make("select", { "aria-label": label, title: label, "data-testid": name });
    select.append(make("option", { value: "" }, any));
    for (const [value, cases] of start.choices[name] || []) {
      const short = value.length > 70 ? `${value.slice(0, 70)}…` : value;
      select.append(make("option", { value }, `${short} (${cases.toLocaleString("en")})`));
    }
    select.value = state.wanted[name];
    select.disabled = select.options.length === 1;
    return select;
  }

  // ---- the list: only the lines in sight are on the page

  function take(answer) {
    state.total = answer.total;
    state.failures = answer.failures;
    answer.rows.forEach((row, place) => state.rows.set(answer.from + place, row));
    space.style.height = `${state.total * LINE}px`;
    const all = start.total === state.total ? "" : ` of ${start.total.toLocaleString("en")}`;
    count.textContent = `${state.total.toLocaleString("en")}${all} ${state.total === 1 && !all ? "case" : "cases"}, ` +
      counted(state.failures, "failing turn");
  }

  function window_() {
    const first = Math.max(0, Math.floor(list.scrollTop / LINE) - 4);
    return [first, Math.min(state.total, Math.ceil((list.scrollTop + (list.clientHeight || 500)) / LINE) + 4)];
  }

  function paint() {
    const [first, end] = window_();
    const lines = [];
    for (let line = first; line < end; line += 1) {
      lines.push(option(line, state.rows.get(line)));
      if (!state.rows.has(line)) fetchRows(line);
    }
    for (const node of [...space.children]) if (!lines.includes(node)) node.remove();
    lines.forEach((node, place) => {
      if (space.children[place] !== node) space.insertBefore(node, space.children[place] || null);
    });
    const active = state.line >= first && state.line < end ? `hn-${serial}-${state.line}` : null;
    if (active) list.setAttribute("aria-activedescendant", active);
    else list.removeAttribute("aria-activedescendant");
  }

  // A line that stays keeps its node: one that is exchanged between press and release gets no click.
  const nodes = new Map();
  function option(line, row) {
    const kept = nodes.get(line);
    const node = kept && kept.row === row && kept.total === state.total ? kept.node : drawn(line, row);
    nodes.set(line, { row, node, total: state.total });
    node.setAttribute("aria-selected", String(line === state.line));
    if (nodes.size > 5 * BLOCK) nodes.clear();
    return node;
  }

  function drawn(line, row) {
    const node = make("div", {
      class: "case", role: "option", id: `hn-${serial}-${line}`, style: `top:${line * LINE}px`,
      "aria-setsize": state.total, "aria-posinset": line + 1,
      onclick: () => choosing(line, 0),
    });
    if (!row) {
      node.textContent = "…";
      return node;
    }
    const failed = row.turns - row.passed;
    const tone = { passed: "good", skipped: "idle" }[row.status] || "bad";
    node.setAttribute("aria-label",
      `${row.status}: ${row.name}, ${failed} of ${counted(row.turns, "turn")} not passed${row.reason ? `. ${row.reason}` : ""}`);
    node.title = row.reason ? `${row.name}\n${row.reason}` : row.name;
    const counts = make("span", { class: "counts" });
    if (failed) counts.append(make("span", { class: tone }, `✗ ${failed}`), " ");
    if (row.passed) counts.append(make("span", { class: "good" }, `✓ ${row.passed}`));
    node.append(
      make("div", { class: "first" },
        make("span", { class: `mark ${tone}` }, row.mark), make("span", { class: "name", dir: "auto" }, row.name), counts),
      make("div", { class: "why", dir: "auto" }, row.reason || row.status),
    );
    return node;
  }

  function fetchRows(line) {
    const from = Math.floor(line / BLOCK) * BLOCK;
    const filter = state.filtering;
    if (state.asked.has(from)) return;
    state.asked.add(from);
    waiting(source.rows(state.wanted, from, BLOCK)).then((answer) => {
      if (filter !== state.filtering) return;
      take(answer);
      paint();
    }, () => state.asked.delete(from));
  }

  async function filtered() {
    const filter = (state.filtering += 1);
    state.moves += 1;
    clear.hidden = !Object.values(state.wanted).some(Boolean);
    const answer = await waiting(source.rows(state.wanted, 0, BLOCK));
    if (filter !== state.filtering) return;
    state.rows.clear();
    state.asked = new Set([0]);
    list.scrollTop = 0;
    take(answer);
    state.line = -1;
    if (!state.total) {
      nothing();
      return;
    }
    paint();
    choosing(0, 0);
  }

  function nothing() {
    state.opening += 1;
    state.place = state.shown = -1;
    state.turn = null;
    paint();
    where.textContent = "";
    conversation.replaceChildren(make("div", { class: "note" }, start.total ? "No case fits these filters." : "This run has no cases."));
    source.chosen(-1, null);
  }

  // ---- going somewhere

  let soon = 0, going = Promise.resolve();
  function choosing(line, delay = 90) { // by keyboard one may pass over many
    state.line = Math.min(Math.max(line, 0), state.total - 1);
    state.opening += 1; // what is on its way is not wanted any more
    state.moves += 1;
    reveal();
    paint();
    clearTimeout(soon);
    soon = setTimeout(async () => {
      soon = 0;
      const chosen = state.line;
      const row = state.rows.get(chosen) || (await source.rows(state.wanted, chosen, 1)).rows[0];
      if (row && chosen === state.line) going = go({ place: row.place, turn: null });
    }, delay);
  }

  function reveal() {
    const top = state.line * LINE, height = list.clientHeight || 500;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + LINE > list.scrollTop + height) list.scrollTop = top + LINE - height;
  }

  async function go(target) {
    const opening = (state.opening += 1);
    const known = target.number !== undefined;
    const [html, at] = await waiting(Promise.all([
      target.place === state.shown ? null : source.conversation(target.place),
      known ? target : source.step(state.wanted, target.place, target.turn, 0),
    ]));
    if (opening !== state.opening) return;
    if (html !== null) {
      conversation.innerHTML = html;
      state.shown = target.place;
      conversation.scrollTop = 0;
    }
    Object.assign(state, { place: target.place, turn: target.turn, number: at ? at.number : 0 });
    if (at && at.line >= 0 && at.line !== state.line) {
      state.line = at.line;
      reveal();
    }
    paint();
    mark(true);
    source.chosen(state.place, state.turn);
  }

  function mark(scroll) {
    for (const turn of conversation.querySelectorAll(".turn")) {
      const chosen = state.turn !== null && turn.dataset.turn === String(state.turn);
      turn.classList.toggle("chosen", chosen);
      if (!chosen) continue;
      turn.setAttribute("aria-current", "true");
      turn.open = true;
      const head = conversation.querySelector("header");
      const above = head ? head.offsetHeight : 0;
      const top = turn.getBoundingClientRect().top - conversation.getBoundingClientRect().top - above;
      const high = conversation.clientHeight - above;
      const seen = top >= 0 && (top + turn.offsetHeight <= high || top < high / 3);
      if (scroll && !seen) conversation.scrollTop += top - 6;
    }
    for (const turn of conversation.querySelectorAll('.turn:not(.chosen)[aria-current]')) turn.removeAttribute("aria-current");
    where.textContent = state.number ? `failure ${state.number.toLocaleString("en")} of ${state.failures.toLocaleString("en")}`
      : counted(state.failures, "failure");
    previous.disabled = !state.failures || state.number === 1;
    next.disabled = !state.failures || state.number === state.failures;
    unfold.textContent = "Unfold all";
  }

  // One step after the other, however fast the key is pressed; a choice made meanwhile wins.
  let walking = Promise.resolve();
  function walk(by) {
    const moves = state.moves;
    walking = walking.then(async () => {
      if (moves !== state.moves) return;
      if (soon) { // from the line that is chosen, not from what is still open
        clearTimeout(soon);
        soon = 0;
        const row = state.rows.get(state.line);
        if (row) Object.assign(state, { place: row.place, turn: null });
      }
      await going; // where the last choice leads
      const at = await waiting(source.step(state.wanted, state.place, state.turn, by));
      if (moves !== state.moves) return;
      if (at) await go(at);
      else (by > 0 ? next : previous).disabled = true;
    }).catch(() => {});
  }

  // A kernel that runs a cell answers later; one that is gone never does.
  async function waiting(promise) {
    const slow = setTimeout(() => root.classList.add("slow"), SLOW);
    try {
      return await promise;
    } finally {
      clearTimeout(slow);
      root.classList.remove("slow");
    }
  }

  // ---- what the reader does

  let typing = 0;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      state.wanted = { ...state.wanted, text: search.value };
      filtered();
    }, 200);
  });
  for (const [name, select] of Object.entries(selects)) {
    select.addEventListener("change", () => {
      state.wanted = { ...state.wanted, [name]: select.value };
      filtered();
    });
  }
  clear.addEventListener("click", () => {
    state.wanted = { status: "", text: "", metric: "", reason: "" };
    search.value = "";
    for (const select of Object.values(selects)) select.value = "";
    filtered();
    list.focus();
  });
  previous.addEventListener("click", () => walk(-1));
  next.addEventListener("click", () => walk(1));
  unfold.addEventListener("click", () => {
    const open = unfold.textContent === "Unfold all";
    for (const node of conversation.querySelectorAll("details")) node.open = open || node.classList.contains("chosen");
    unfold.textContent = open ? "Fold all" : "Unfold all";
  });
  list.addEventListener("scroll", paint, { passive: true });
  conversation.addEventListener("click", (event) => {
    const summary = event.target.closest("summary");
    const turn = summary && summary.parentElement.matches(".turn") ? summary.parentElement : null;
    if (!turn || turn.open) return; // on its way to being unfolded: this is the turn one looks at
    state.turn = Number(turn.dataset.turn);
    source.step(state.wanted, state.place, state.turn, 0).then((at) => {
      state.number = at ? at.number : 0;
      mark(false);
      source.chosen(state.place, state.turn);
    });
  });
  const moves = {
    ArrowDown: () => state.line + 1, ArrowUp: () => state.line - 1,
    PageDown: () => state.line + Math.max(1, Math.floor(list.clientHeight / LINE) - 1),
    PageUp: () => state.line - Math.max(1, Math.floor(list.clientHeight / LINE) - 1),
    Home: () => 0, End: () => state.total - 1,
  };
  list.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !state.total) return;
    if (event.key in moves) choosing(moves[event.key]());
    else if (event.key === "Enter" || event.key === " ") conversation.focus();
    else return;
    event.preventDefault();
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    list.focus();
    event.preventDefault();
  });
  root.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const typed = event.target.matches("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") list.focus();
    else if (typed) return;
    else if (event.key === "n") walk(1);
    else if (event.key === "p") walk(-1);
    else if (event.key === "/") search.focus();
    else return;
    event.preventDefault();
  });

  // ---- the first sight

  clear.hidden = !Object.values(state.wanted).some(Boolean);
  state.asked.add(0);
  take(start.rows);
  if (!start.at) {
    nothing();
  } else {
    conversation.innerHTML = start.html;
    Object.assign(state, { place: start.at.place, shown: start.at.place, turn: start.at.turn, line: start.at.line, number: start.at.number });
    paint();
  }
  let seen = false;
  const resized = new ResizeObserver(() => {
    if (!seen && list.clientHeight && start.at) { // on the page, so that heights are known
      seen = true;
      reveal();
      mark(true);
    }
    paint();
  });
  resized.observe(list);
  return {
    go: (place, turn) => {
      if (place !== state.place || turn !== state.turn) go({ place, turn });
    },
    end: () => resized.disconnect(),
  };
}

// What a reader can do with the page: sort, filter, search and copy the table, open a result, switch the theme.
// Everything shown comes from the JSON block and is set as text, never as markup. Nothing is fetched or stored.
"use strict";
(() => {
  const SLICE = 100; // rows added when the reader scrolls near the end
  const LONGEST = 60; // characters of a name in the table; the details have all of it
  const PRINTED = 1000; // rows on paper
  const SVG = "http://www.w3.org/2000/svg";
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = Object.fromEntries(data.columns.map((name, place) => [name, place]));
  const runAt = Object.fromEntries(data.runColumns.map((name, place) => [name, place]));
  const find = (id) => document.getElementById(id);

  // Reading the data ---------------------------------------------------------------------------------------------
  const text = (row, name) => data.texts[row[at[name]]];
  const look = (row) => data.looks[row[at.framework]];
  const verdict = (row) =>
    text(row, "outcome") !== "measured" ? "not measured" : row[at.flags].length ? "weak" : "steady";
  const execution = (row) =>
    text(row, "chosen") ? `${text(row, "chosen")} (${text(row, "execution")})` : text(row, "execution");
  // A figure of a row is [value, low, high], or null.
  const figure = (row, index) => row[at.figures][index] ?? null;
  const head = (row) => (row[at.headline] === null ? null : figure(row, row[at.headline]));
  const headUnit = (row) => (row[at.headline] === null ? "" : data.figures[row[at.headline]].unit);
  const hasInterval = (found) => found !== null && found[1] !== null && found[2] !== null;
  const margin = (row) => (hasInterval(head(row)) ? (50 * (head(row)[2] - head(row)[1])) / head(row)[0] : null);

  const number = (value) => {
    if (value === null || value === undefined) return "–";
    return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(4)));
  };
  const seconds = (value) => {
    if (value === null || value === undefined) return "–";
    return value < 0.001
      ? `${number(value * 1e6)} µs`
      : value < 1
        ? `${number(value * 1e3)} ms`
        : `${number(value)} s`;
  };
  const bytes = (value) => (value === null ? "–" : `${number(value / 2 ** 20)} MiB`);
  const moment = (value) =>
    value === null ? "–" : `${new Date(value * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

  const flagsOf = (row) => row[at.flags].map((flag) => data.texts[flag]).join(", ");
  const why = (row) =>
    verdict(row) === "weak" ? flagsOf(row) : [text(row, "outcome"), text(row, "short")].filter(Boolean).join(": ");
  const shortened = (name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);
  const distinct = (of) => new Set(data.rows.map(of)).size;
  const places = distinct((row) => text(row, "place"));
  const classes = (column) =>
    [column.show ? "number" : "", column.name ?? "", column.wide ? "wide" : ""].filter(Boolean).join(" ");
  // A column for each figure that some result has: first those that are the main one of a result.
  const heads = new Set(data.rows.map((row) => row[at.headline]));
  const figureColumn = (described, index) => ({
    title: described.heading,
    csv: heads.has(index) ? described.heading : `${described.name} ${described.heading}`,
    of: (row) => figure(row, index)?.[0] ?? null,
    show: number,
    marked: heads.has(index),
    place: described.place,
    means: `${described.title}. ${described.meaning}`,
  });
  const figureColumns = data.figures.map(figureColumn).sort((a, b) => a.place - b.place);
  const EVERY = [
    { title: "Workload", of: (row) => text(row, "workload"), filter: true, optional: true, quiet: true },
    { title: "Network", of: (row) => text(row, "network"), filter: true, name: "network" },
    { title: "Dataset", of: (row) => text(row, "dataset"), filter: true, optional: true, wide: true },
    {
      title: "Framework",
      of: (row) => look(row)[0],
      filter: true,
      order: (row) => `${look(row)[2]} ${look(row)[0]}`,
      wide: true,
    },
    ...figureColumns.filter((column) => column.marked),
    {
      title: "× best",
      of: (row) => row[at.share],
      show: (share) => (share === null ? "–" : `×${share < 100 ? share.toFixed(2) : number(share)}`),
      means: "The main figure divided by the best one with the same network, dataset, device and settings.",
    },
    {
      title: "95 %",
      csv: "± %",
      of: margin,
      show: (_, row) => text(row, "interval"),
      means:
        "How exact the main figure is: an interval that holds the true mean in 95 of 100 such measurements; " +
        "± in percent, or both ends where it is wide. One run has none.",
    },
    {
      title: "Verdict",
      of: verdict,
      filter: true,
      name: "judged",
      means:
        "Steady: nothing disturbed the measurement. Weak (∗): something did, and is named. Not measured: the reason is named.",
    },
    {
      title: "Data",
      of: (row) => text(row, "data"),
      filter: true,
      optional: true,
      means: "Synthetic: made up in memory. Packed: files, read by netdyno's loader. Native: files, read by the framework.",
    },
    { title: "Batch", of: (row) => row[at.batch], filter: true, show: number, optional: true },
    { title: "Precision", of: (row) => text(row, "precision"), filter: true, optional: true },
    {
      title: "Execution",
      of: execution,
      filter: true,
      optional: true,
      means: "Eager: one operation after the other. Compiled: the whole step is compiled before it runs.",
    },
    { title: "Device", of: (row) => text(row, "place"), filter: true, optional: true },
    { title: "Machine", of: (row) => text(row, "machine"), filter: true, optional: true, quiet: true },
    {
      title: "Threads",
      of: (row) => (text(row, "device") === "cpu" ? row[at.threads] : null),
      filter: true,
      show: number,
      optional: true,
    },
    { title: "Options", of: (row) => text(row, "others"), filter: true, optional: true },
    { title: "Series", of: (row) => row[at.series], filter: true, show: number, optional: true, quiet: true },
    ...figureColumns.filter((column) => !column.marked),
    {
      title: "of peak",
      csv: "MFU",
      of: (row) => row[at.mfu],
      show: (found) => (found === null ? "–" : `${(100 * found).toFixed(0)} %`),
      means: "Arithmetic of the network in a second, as a share of what the device can do at most.",
    },
    { title: "Runs", of: (row) => row[at.runs], show: number, optional: true },
    {
      title: "Verified",
      of: (row) => (row[at.proved] ? "yes" : "no"),
      filter: true,
      optional: true,
      means: "Whether netdyno verify found on this machine that the framework trains the same network.",
    },
  ];
  const isEmpty = (column) => data.rows.every((row) => column.of(row) === null);
  // A column that is the same in every row is a sentence; a machine's id says more than its device only if two share one.
  const isSame = (column) => column.optional && distinct(column.of) < 2;
  const isIdle = (column) => column.title === "Machine" && distinct(column.of) <= places;
  const COLUMNS = EVERY.filter((column) => !isEmpty(column) && !isSame(column) && !isIdle(column));
  const value = (column, row) => (column.order ? column.order(row) : column.of(row));

  const collator = new Intl.Collator("en", { numeric: true });

  // Making elements ----------------------------------------------------------------------------------------------
  const fill = (element, attributes, children) => {
    for (const [name, setting] of Object.entries(attributes)) element.setAttribute(name, setting);
    element.append(...children.filter((child) => child !== null));
    return element;
  };
  const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const swatch = (row) => {
    const dot = make("span", { class: "swatch", "aria-hidden": "true" });
    dot.style.setProperty("--colour", `var(${look(row)[1]})`);
    return dot;
  };
  const list = (pairs) =>
    make("dl", { class: "facts" }, ...pairs.flatMap(([name, content]) => [make("dt", {}, name), make("dd", {}, content)]));

  // The table ----------------------------------------------------------------------------------------------------
  const body = find("rows"),
    scroller = find("table-scroll"),
    count = find("count");
  const state = {
    sorted: null,
    down: false,
    chosen: new Map(),
    words: [],
    rows: data.rows.map((_, place) => place),
    shown: 0,
  };

  // On a narrow screen the framework and the settings stand below the network, so that the number is beside it.
  const below = (row) => {
    const settings = [text(row, "dataset"), `b${row[at.batch]}`, text(row, "data")];
    if (settings[2] === "synthetic") settings.pop();
    return make(
      "span",
      { class: "below" },
      make("span", {}, swatch(row), shortened(look(row)[0])),
      make("small", {}, settings.map(shortened).join(" · ")),
    );
  };
  const cellOf = (column, row, place) => {
    const found = column.of(row);
    const cell = make("td", { class: classes(column) });
    if (column.title === "Network") {
      const name = `Details of ${found}/${text(row, "dataset")} in ${look(row)[0]}`;
      const link = { type: "button", class: "link", "data-place": place, "aria-label": name };
      cell.append(make("button", link, shortened(found)), below(row));
    } else if (column.title === "Framework") cell.append(swatch(row), shortened(found));
    else if (column.title === "Verdict") {
      cell.append(make("span", { class: `verdict ${found.replace(" ", "-")}`, title: why(row) }, found));
      if (found !== "steady") cell.append(make("span", { class: "why" }, why(row)));
    } else if (column.marked && verdict(row) === "weak") {
      cell.append(column.show(found), make("span", { class: "verdict weak hanging", title: flagsOf(row) }, "∗"));
    } else cell.append(column.show ? column.show(found, row) : shortened(String(found)));
    return cell;
  };
  const rowOf = (place) => {
    const row = data.rows[place];
    const apart = row[at.apart] ? { class: "apart", title: "Part of netdyno: takes part in no comparison" } : {};
    return make("tr", apart, ...COLUMNS.map((column) => cellOf(column, row, place)));
  };
  const append = (most) => {
    const slice = state.rows.slice(state.shown, state.shown + most);
    body.append(...slice.map(rowOf));
    state.shown += slice.length;
  };
  const render = () => {
    body.replaceChildren();
    state.shown = 0;
    scroller.scrollTop = 0;
    append(SLICE);
    const all = data.rows.length;
    count.textContent =
      state.rows.length === all
        ? `${all.toLocaleString("en-US")} results`
        : `${state.rows.length.toLocaleString("en-US")} of ${all.toLocaleString("en-US")} results`;
    find("nothing").hidden = state.rows.length > 0;
  };

  const searched = () => {
    // Each word is searched once in all texts; a row matches if every word is in one of its texts or names.
    const lower = data.texts.map((one) => one.toLowerCase());
    const names = [
      "workload",
      "network",
      "dataset",
      "framework",
      "place",
      "machine",
      "precision",
      "execution",
      "chosen",
      "data",
      "others",
      "outcome",
      "reason",
    ];
    const sets = state.words.map(
      (word) => new Set(lower.flatMap((one, place) => (one.includes(word) ? [place] : []))),
    );
    return (row) =>
      sets.every((set, place) => {
        const word = state.words[place];
        return (
          names.some((name) => set.has(row[at[name]])) ||
          row[at.flags].some((flag) => set.has(flag)) ||
          look(row)[0].toLowerCase().includes(word) ||
          `b${row[at.batch]}` === word
        );
      });
  };
  const update = () => {
    const matches = state.words.length ? searched() : () => true;
    const chosen = [...state.chosen].filter(([, wanted]) => wanted !== "");
    const kept = data.rows.flatMap((row, place) =>
      chosen.every(([column, wanted]) => String(column.of(row)) === wanted) && matches(row) ? [place] : [],
    );
    if (state.sorted) {
      const keys = new Map(kept.map((place) => [place, value(state.sorted, data.rows[place])]));
      const compare = (a, b) =>
        typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
      kept.sort((one, other) => {
        const apart = data.rows[one][at.apart] - data.rows[other][at.apart]; // netdyno's own always last
        if (apart) return apart;
        const [a, b] = [keys.get(one), keys.get(other)];
        if (a === null || b === null) return (a === null) - (b === null); // unknown values come last in both directions
        return state.down ? compare(b, a) : compare(a, b);
      });
    }
    state.rows = kept;
    render();
  };

  const sortBy = (column, header) => {
    state.down = state.sorted === column ? !state.down : Boolean(column.show); // largest first, names from A
    state.sorted = column;
    for (const other of header.parentElement.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    update();
  };
  const addHeaders = () => {
    for (const column of COLUMNS) {
      const button = make("button", { type: "button", ...(column.means ? { title: column.means } : {}) }, column.title);
      const header = make("th", { scope: "col", class: classes(column) }, button);
      button.addEventListener("click", () => sortBy(column, header));
      find("headers").append(header);
    }
  };
  const addFilters = () => {
    for (const column of COLUMNS.filter((one) => one.filter)) {
      const rows = new Map(data.rows.map((row) => [String(column.of(row)), row]));
      if (rows.size < 2) continue;
      const options = [...rows].sort(([a, one], [b, other]) =>
        collator.compare(column.order ? column.order(one) : a, column.order ? column.order(other) : b),
      );
      const field = column.title.toLowerCase();
      const select = make(
        "select",
        { id: `filter-${field}`, "data-field": field },
        make("option", { value: "" }, "all"),
        ...options.map(([name]) => make("option", { value: name }, name === "null" ? "–" : name)),
      );
      select.addEventListener("change", () => {
        state.chosen.set(column, select.value);
        update();
      });
      find("filters").append(make("div", {}, make("label", { for: select.id }, column.title), select));
    }
  };
  const explain = () => {
    const meant = COLUMNS.filter((column) => column.means);
    find("legend").append(
      ...meant.flatMap((column) => [make("dt", {}, column.title), make("dd", {}, column.means)]),
    );
    const same = EVERY.filter((column) => isSame(column) && !column.quiet && data.rows.length > 1);
    const words = same
      .map((column) => [column.title.toLowerCase(), column.of(data.rows[0])])
      .filter(([, value]) => value !== null && value !== "")
      .map(([title, value]) => `${title}: ${shortened(String(value))}`);
    find("same").textContent = `The same in all rows: ${words.join(" · ")}`;
    find("same").hidden = words.length === 0;
  };
  const reset = () => {
    find("search").value = "";
    for (const select of find("filters").querySelectorAll("select")) select.value = "";
    state.words = [];
    state.chosen.clear();
    update();
  };
  const showOnly = (wanted) => {
    reset();
    for (const select of find("filters").querySelectorAll("select")) {
      if (!(select.dataset.field in wanted)) continue;
      select.value = wanted[select.dataset.field];
      select.dispatchEvent(new Event("change"));
    }
    find("all-results").scrollIntoView();
    find("search").focus({ preventScroll: true });
  };

  // Copying ------------------------------------------------------------------------------------------------------
  const csv = () => {
    const quoted = (content) => {
      // A spreadsheet evaluates a text that begins like a formula, so such a text gets an apostrophe before it.
      const safe = typeof content === "string" && /^[=+\-@\t\r]/.test(content) ? `'${content}` : String(content ?? "");
      return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    };
    const head = [...EVERY.map((column) => column.csv ?? column.title), "what is weak or missing"];
    const lines = state.rows.map((place) => {
      const row = data.rows[place];
      const why = [...row[at.flags].map((flag) => data.texts[flag]), text(row, "reason")].filter(Boolean).join("; ");
      return [...EVERY.map((column) => column.of(row)), why];
    });
    return [head, ...lines].map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
  };
  const copy = async (words, button) => {
    const label = button.dataset.label ?? (button.dataset.label = button.textContent);
    let done = false;
    try {
      await navigator.clipboard.writeText(words);
      done = true;
    } catch {
      const area = make("textarea", { class: "offscreen", "aria-hidden": "true" });
      area.value = words;
      button.parentElement.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = done ? "Copied" : "Copying was refused";
    setTimeout(() => {
      button.textContent = label;
    }, 1500);
  };

  // The details of a result ----------------------------------------------------------------------------------------------
  const dialog = find("cell");
  const span = (values) => {
    const low = Math.min(...values),
      high = Math.max(...values);
    const room = (high - low || Math.abs(high) || 1) * 0.08;
    return [low - room, high + room];
  };
  const blocksChart = (row, runs) => {
    const measured = runs.filter((run) => run[runAt.blocks].length);
    if (!measured.length || !row[at.per_step]) return null; // the main figure is no rate over blocks
    const [width, height, left, foot] = [Math.min(720, innerWidth - 34), 170, 64, 22];
    const speeds = measured.map((run) => run[runAt.blocks].map((blockSeconds) => row[at.per_step] / blockSeconds));
    const [low, high] = span(speeds.flat());
    const y = (speed) => height - foot - ((speed - low) / (high - low)) * (height - foot - 6);
    const room = (width - left) / speeds.length;
    const middles = measured.map((run) => `run ${run[runAt.number]} at ${number(run[runAt.head])} ${headUnit(row)}`);
    const words = `Speed of every timed block: ${middles.join(", ")}`;
    const chart = draw("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": words,
      class: "blocks",
    });
    for (const speed of [Math.min(...speeds.flat()), Math.max(...speeds.flat())]) {
      chart.append(
        draw("line", { x1: left, x2: width, y1: y(speed), y2: y(speed), class: "grid" }),
        draw("text", { x: left - 8, y: y(speed) + 4, "text-anchor": "end" }, number(speed)),
      );
    }
    measured.forEach((run, place) => {
      const start = left + place * room + 10,
        step = (room - 20) / Math.max(speeds[place].length - 1, 1);
      chart.append(
        draw("line", {
          x1: start,
          x2: left + (place + 1) * room - 10,
          y1: y(run[runAt.head]),
          y2: y(run[runAt.head]),
          class: "middle",
        }),
      );
      chart.append(
        ...speeds[place].map((speed, block) => draw("circle", { cx: start + block * step, cy: y(speed), r: 2.4 })),
      );
      chart.append(draw("text", { x: start, y: height - 6 }, `run ${run[runAt.number]}`));
    });
    chart.style.setProperty("--colour", `var(${look(row)[1]})`);
    return chart;
  };
  const traced = {
    power_w: ["Power", "W", 1],
    sm_clock_mhz: ["SM clock", "MHz", 1],
    memory_clock_mhz: ["Memory clock", "MHz", 1],
    memory_bytes: ["Device memory", "MiB", 2 ** -20],
    temperature_c: ["Temperature", "°C", 1],
    utilisation: ["Utilisation", "%", 100],
    host_memory_bytes: ["Host memory", "MiB", 2 ** -20],
    busy_cores: ["Busy cores", "", 1],
    package_w: ["Package power", "W", 1],
  };
  const traceChart = (name, points) => {
    const [width, height] = [340, 96];
    const [title, unit, scale] = Object.hasOwn(traced, name) ? traced[name] : [name, "", 1];
    const [first, last] = [points[0][0], points[points.length - 1][0]];
    const reads = points.map(([, read]) => read * scale);
    const [least, most] = [Math.min(...reads), Math.max(...reads)];
    // The height spans at least a tenth of the value, so that one degree does not look like a cliff.
    const room = Math.max(most - least, Math.abs(most) / 10, 1e-9) * 1.1;
    const low = (least + most - room) / 2;
    const x = (second) => ((second - first) / (last - first || 1)) * width;
    const y = (read) => 20 + (1 - (read - low) / room) * (height - 24);
    const range = least === most ? `${number(most)} ${unit} throughout` : `${number(least)} to ${number(most)} ${unit}`;
    const words = `${title}: ${range.replace(/ +/g, " ").trim()}, ${seconds(last - first)}`;
    const line = points.map(([second], place) => `${x(second).toFixed(1)},${y(reads[place]).toFixed(1)}`).join(" ");
    return draw(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words, class: "trace" },
      draw("text", { x: 0, y: 12 }, words),
      draw("polyline", { points: line }),
    );
  };
  const flat = (object, prefix = "") =>
    Object.entries(object).flatMap(([name, content]) =>
      content !== null && typeof content === "object"
        ? flat(content, `${prefix}${name} `)
        : [[`${prefix}${name}`, content === null || content === "" ? "–" : String(content)]],
    );
  const part = (title, ...children) => {
    const there = children.filter((child) => child !== null);
    return there.length ? make("section", {}, make("h3", {}, title), ...there) : null;
  };
  const runsTable = (row, runs) => {
    const head = [
      "run",
      "started",
      "took",
      headUnit(row) || "figure",
      "build",
      "first step",
      "loss",
      "host memory",
      "device memory",
      "outcome",
    ];
    const line = (run) => {
      const said = [
        data.texts[run[runAt.outcome]],
        ...run[runAt.flags].map((flag) => data.texts[flag]),
        data.texts[run[runAt.reason]],
      ]
        .filter(Boolean)
        .join(", ");
      const content = [
        run[runAt.number],
        moment(run[runAt.started]),
        seconds(run[runAt.took_s]),
        number(run[runAt.head]),
        seconds(run[runAt.build_s]),
        seconds(run[runAt.first_step_s]),
        `${number(run[runAt.loss_first])} → ${number(run[runAt.loss_last])}`,
        bytes(run[runAt.host_bytes]),
        bytes(run[runAt.device_bytes]),
        said,
      ];
      return make(
        "tr",
        run[runAt.id] ? { title: `run folder ${run[runAt.id]}` } : {},
        ...content.map((one) => make("td", {}, String(one))),
      );
    };
    const table = make(
      "table",
      { class: "runs" },
      make("thead", {}, make("tr", {}, ...head.map((one) => make("th", { scope: "col" }, one)))),
      make("tbody", {}, ...runs.map(line)),
    );
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs" }, table);
  };
  const commandLine = (row) => {
    const command = text(row, "command");
    const button = make("button", { type: "button" }, "Copy");
    button.addEventListener("click", () => copy(command, button));
    return make("div", { class: "command" }, make("code", {}, command), button);
  };
  const summary = (row) => {
    const found = verdict(row);
    const main = head(row);
    const shown = main === null ? text(row, "outcome") : `${number(main[0])} ${headUnit(row)}`;
    const between = hasInterval(main) ? `95 % interval ${number(main[1])} to ${number(main[2])}` : text(row, "interval");
    const interval = main === null ? "" : ` (${between})`;
    const weak = found === "weak" ? flagsOf(row) : text(row, "reason");
    return [
      make("p", { class: "figure" }, shown, make("small", {}, interval)),
      make("p", {}, make("span", { class: `verdict ${found.replace(" ", "-")}` }, found), weak ? ` ${weak}` : ""),
      row[at.proved] || row[at.apart] ? null : make("p", { class: "note" }, "Not verified on this machine: run netdyno verify."),
    ];
  };
  const readings = (row) => {
    const units = { _bytes: bytes, _s: seconds };
    const show = (name, read) =>
      (Object.entries(units).find(([end]) => name.endsWith(end) && !name.endsWith("per_s"))?.[1] ?? number)(read);
    const there = row[at.readings].flatMap((read, place) =>
      read === null ? [] : [[data.readings[place], show(data.readings[place], read)]],
    );
    const steps = row[at.steps].length
      ? [
          ["step, 5 to 95 %", `${seconds(row[at.steps][0])} to ${seconds(row[at.steps][4])}`],
          ["step, median", seconds(row[at.steps][2])],
        ]
      : [];
    const absent = row[at.absent].map(([name, why]) => [data.texts[name], `not read: ${data.texts[why]}`]);
    return [...steps, ...there, ...absent];
  };
  const open = (place) => {
    const row = data.rows[place],
      runs = data.runs[place];
    const title = `${text(row, "network")}/${text(row, "dataset")}`;
    const how = [
      text(row, "place"),
      text(row, "device") === "cpu" ? `${row[at.threads]} threads` : "",
      `batch ${row[at.batch]}`,
      text(row, "precision"),
      execution(row),
      `${text(row, "data")} data`,
      text(row, "others"),
      `series ${row[at.series]}`,
    ];
    const content = readings(row);
    find("cell-title").replaceChildren(swatch(row), `${title} in ${look(row)[0]}`);
    find("cell-body").replaceChildren(
      ...[
        make("p", { class: "how" }, how.filter(Boolean).join(" · ")),
        ...summary(row),
        part("Timed blocks", blocksChart(row, runs)),
        part("While it ran", ...row[at.trace].map(([name, points]) => traceChart(data.texts[name], points))),
        part("Runs", runsTable(row, runs)),
        part("Measure it again", commandLine(row)),
        part("Readings", content.length ? list(content) : null),
        part("Versions", list(flat(data.objects[row[at.versions]]))),
        part("Settings", list(flat(data.objects[row[at.settings]]))),
        part("Environment", list([["machine", text(row, "machine")], ...flat(data.objects[row[at.environment]])])),
      ].filter((one) => one !== null),
    );
    if (!dialog.open) dialog.showModal();
    find("cell-body").scrollTop = 0;
    history.replaceState(null, "", `#cell-${row[at.id]}`);
  };
  const openFromAddress = () => {
    const id = location.hash.startsWith("#cell-") ? location.hash.slice(6) : null;
    const place = id === null ? -1 : data.rows.findIndex((row) => row[at.id] === id);
    if (place >= 0) open(place);
    else if (dialog.open) dialog.close();
  };

  // The theme ----------------------------------------------------------------------------------------------------
  const root = document.documentElement,
    theme = find("theme");
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => {
    theme.textContent = isDark() ? "Light theme" : "Dark theme";
  };

  // Starting -----------------------------------------------------------------------------------------------------
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
  find("search").addEventListener("input", (event) => {
    state.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    update();
  });
  find("reset").addEventListener("click", reset);
  find("copy").addEventListener("click", (event) => copy(csv(), event.currentTarget));
  body.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-place]");
    if (button) open(Number(button.dataset.place));
  });
  find("cell-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    if (location.hash.startsWith("#cell-")) history.replaceState(null, "", "#");
  });
  for (const button of document.querySelectorAll("button[data-only]"))
    button.addEventListener("click", () => showOnly(JSON.parse(button.dataset.only)));
  new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting) && state.shown < state.rows.length) append(SLICE);
    },
    { root: scroller, rootMargin: "600px" },
  ).observe(find("more"));
  addEventListener("beforeprint", () => append(PRINTED - state.shown));
  addEventListener("hashchange", openFromAddress);
  theme.hidden = false;
  nameTheme();
  addHeaders();
  find("filter-box").open = innerWidth > 640; // on a phone the table itself comes first
  addFilters();
  explain();
  update();
  openFromAddress();
  root.dataset.ready = "yes";
})();

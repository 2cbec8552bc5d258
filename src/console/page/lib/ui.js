/** The console's components: what every page is made of. Tables, forms, dialogs and charts have files of their own. */
import { html, useEffect, useRef, useState } from "./html.js";
import { day, percent } from "./format.js";

/** @typedef {import("./html.js").Children} Children */
/** @typedef {"good" | "warn" | "bad" | "plain" | "accent"} Tone */

/**
 * A page: its title, what may be done with all of it, its panels.
 * @param {{ title: string, about?: Children, actions?: Children, children?: Children }} props
 */
export function Page({ title, about, actions, children }) {
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => {
    document.title = `${title} · Sluice`;
  }, [title]);
  return html`<header class="page-head">
      <div><h1 ref=${heading} tabindex="-1" id="page-title">${title}</h1>${
    about && html`<p class="about">${about}</p>`
  }</div>
      ${actions && html`<div class="actions">${actions}</div>`}
    </header>
    ${children}`;
}

/**
 * @param {{ title?: Children, note?: Children, actions?: Children, class?: string, children?: Children }} props
 */
export function Panel({ title, note, actions, children, class: name = "" }) {
  return html`<section class="panel ${name}">
    ${
    (title || actions) &&
    html`<header><div><h2>${title}</h2>${note && html`<p class="note">${note}</p>`}</div>${
      actions && html`<div class="actions">${actions}</div>`
    }</header>`
  }
    ${children}
  </section>`;
}

/**
 * @param {{ kind?: "primary" | "danger" | "quiet" | "", busy?: boolean, type?: "button" | "submit", label?: string, onClick?: (event: Event) => void, disabled?: boolean, children?: Children }} props `label`: for who does not see what is around it
 */
export function Button({ kind = "", busy, type = "button", label, onClick, disabled, children }) {
  // Not disabled while it is busy: it would lose the focus, and a dialog that closes could not give it back.
  const clicked = (/** @type {Event} */ event) => busy ? event.preventDefault() : onClick?.(event);
  return html`
    <button type=${type} class=${kind} aria-label=${label} aria-busy=${busy || undefined}
      aria-disabled=${busy || undefined} disabled=${disabled} onClick=${clicked}>${children}</button>
  `;
}

/** @param {{ tone?: Tone, children?: Children }} props */
export function Badge({ tone = "plain", children }) {
  return html`<span class="badge ${tone}">${children}</span>`;
}

/**
 * A share of a limit as a bar; it warns at 80 % and alarms at 100 %.
 * @param {{ value: number, of: number, label: string, children?: Children }} props
 */
export function Bar({ value, of, label, children }) {
  const share = of > 0 ? value / of : value > 0 ? 1 : 0;
  const tone = share >= 1 ? "bad" : share >= 0.8 ? "warn" : "good";
  return html`<div class="bar ${tone}"><div class="track" role="meter" aria-label=${label} aria-valuemin="0"
      aria-valuemax="100" aria-valuenow=${Math.min(100, Math.round(share * 100))} aria-valuetext=${
    percent(share)
  }><i style=${{ width: `${Math.min(100, share * 100)}%` }}></i></div>${
    children && html`<span class="bar-text">${children}</span>`
  }</div>`;
}

/** @param {{ label: string, value: Children, note?: Children, tone?: Tone }} props */
export function Stat({ label, value, note, tone = "plain" }) {
  return html`
    <div class="stat ${tone}">
      <dt>${label}</dt>
      <dd>${value}${note && html`<small>${note}</small>`}</dd>
    </div>
  `;
}

/** @param {{ items: readonly (readonly [label: string, value: Children])[] }} props a list of names and values */
export function Facts({ items }) {
  return html`<dl class="facts">${
    items.map(([label, value]) =>
      html`
        <div key=${label}>
          <dt>${label}</dt>
          <dd>${value}</dd>
        </div>
      `
    )
  }</dl>`;
}

/** @param {{ title: string, children?: Children }} props what stands where there is nothing yet, and what to do about it */
export function Empty({ title, children }) {
  return html`<div class="empty"><p><strong>${title}</strong></p>${
    children && html`<p>${children}</p>`
  }</div>`;
}

/** @param {{ before: string }} props sums that may lack records from before this time */
export function Incomplete({ before }) {
  return html`
    <p class="strip warn"
      role="status">Some records from before ${day(
        before,
      )} are missing here: sums by two labels are made from the newest records, and after an update of the store older records are still being summed up.</p>
  `;
}

/** @param {{ error: Error, retry?: () => void }} props */
export function Failed({ error, retry }) {
  return html`<div class="failed" role="alert"><p>${error.message}</p>${
    retry && html`<${Button} onClick=${retry}>Try again<//>`
  }</div>`;
}

/**
 * What an answer makes visible: the wait for it, its failure, or what `children` makes of it.
 *
 * @template T
 * @param {{ of: { data: T | undefined, error: Error | undefined, reload: () => void }, children: (data: T) => Children }} props
 */
export function Answer({ of: { data, error, reload }, children }) {
  return html`${error && html`<${Failed} error=${error} retry=${reload} />`}${
    data === undefined
      ? (error ? null : html`<div class="waiting" role="status">Loading…</div>`)
      : children(data)
  }`;
}

/**
 * One of a few, at a glance.
 * @param {{ label: string, value: string, options: readonly (readonly [value: string, label: string])[], onChange: (value: string) => void }} props
 */
export function Choice({ label, value, options, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>${
    options.map(([name, text]) =>
      html`<button key=${name} type="button" aria-pressed=${name === value} onClick=${() =>
        onChange(name)}>${text}</button>`
    )
  }</div>`;
}

/** @param {{ text: string, what: string }} props a button that copies `text` */
export function Copy({ text, what }) {
  const [done, setDone] = useState(false);
  return html`<button type="button" class="quiet copy" aria-label=${`Copy ${what}`} onClick=${async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  }}>${done ? "Copied" : "Copy"}</button>`;
}

/** @param {{ children?: Children }} props something wide, which scrolls by itself and by keyboard */
export function Code({ children }) {
  return html`<pre class="code" tabindex="0">${children}</pre>`;
}

/** @param {{ values: readonly number[] }} props a line as high as a row, for a first look; the numbers stand beside it */
export function Spark({ values }) {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? 96 / (values.length - 1) : 0;
  const path = values.map((value, i) =>
    `${i === 0 ? "M" : "L"}${(i * step).toFixed(1)} ${(19 - 17 * value / most).toFixed(1)}`
  );
  return html`
    <svg class="spark" viewBox="0 0 96 20" preserveAspectRatio="none" aria-hidden="true">
      <path d=${path.join("")} />
    </svg>
  `;
}

/** Of a list that only the store has. */
export const NOT_KNOWN = "Unknown while the store is unavailable";

/** What stands around every page: navigation, who is signed in, colours. On a narrow screen the navigation is behind a button. */
import { isAway, onAway, signOut } from "./lib/api.js";
import { useAct } from "./lib/hooks.js";
import { html, useEffect, useRef, useState } from "./lib/html.js";
import { currentRoute, go, href, useRoute } from "./lib/router.js";
import { Button, Failed } from "./lib/ui.js";
import { PAGES } from "./pages.js";
import { Icon, ThemeSwitch } from "./theme.js";

/** @param {{ session: import("./lib/api.js").Session, manual: boolean }} props */
export function Frame({ session, manual }) {
  const route = useRoute();
  const pages = PAGES.filter(({ roles }) => roles === undefined || roles.includes(session.role));
  const page = pages.find(({ id }) => id === route.page) ?? pages[0];
  // On which page: the navigation is closed on the next one, without anything that happens later and closes what was opened since.
  const [openOn, setOpenOn] = useState(/** @type {string | null} */ (null));
  const open = openOn === page.id;
  useEffect(() => {
    // The address may be another one since this was drawn.
    if (!pages.some(({ id }) => id === currentRoute().page)) go(page.id, { replace: true });
  }, [route.page, page.id]);
  const [away, setAway] = useState(isAway);
  useEffect(() => onAway(setAway), []);
  const [leave, leaving] = useAct(signOut);
  const first = useRef(true);
  useEffect(() => {
    if (first.current) first.current = false;
    else document.getElementById("main")?.focus();
  }, [page.id]);
  const groups = Object.entries(Object.groupBy(pages, ({ group }) => group));
  return html`
    <a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => {
      event.preventDefault();
      document.getElementById("main")?.focus();
    }}>Skip to the content</a>
    <div class="frame">
      <header class="side ${open ? "open" : ""}">
        <div
          class="brand"><span class="mark" aria-hidden="true"><svg viewBox="0 0 32 32"><path d="M7 11c3 0 3 3 6 3s3-3 6-3 3 3 6 3M7 18c3 0 3 3 6 3s3-3 6-3 3 3 6 3" /></svg></span>Sluice
            <button type="button" class="menu quiet" aria-expanded=${open} aria-controls="navigation" onClick=${() =>
              setOpenOn(open ? null : page.id)}><${Icon} drawing=${open
              ? "M5 5l10 10M15 5L5 15"
              : "M3 6h14M3 10h14M3 14h14"} /><span class="for-readers">Menu</span></button></div>
        <div class="side-body" id="navigation">
          <nav aria-label="Pages">${groups.map(([group, members]) =>
            html`
              <div key=${group} class="group">
                <p>${group}</p>
                <ul>${members?.map(({ id, title, icon }) =>
                  html`
                    <li
                      key=${id}><a href=${href(id)} aria-current=${id === page.id
                        ? "page"
                        : undefined} onClick=${() =>
                        setOpenOn(null)}><${Icon} drawing=${icon} />${title}</a></li>
                  `
                )}</ul>
              </div>
            `
          )}</nav>
          <div class="foot">
            <${ThemeSwitch} />
            <p
              class="who"><span><strong>${session.name ?? session.role}</strong><small>${session
                .role}${session.team &&
                `, ${session.team}`}</small></span><${Button} kind="quiet" busy=${leaving} onClick=${leave}>Sign out<//></p>
            ${manual && html`
              <p class="links"><a href="/docs" target="_blank" rel="noopener">Manual</a></p>
            `}
          </div>
        </div>
      </header>
      <main id="main" tabindex="-1">
        ${away && html`
          <p class="strip bad"
            role="status"><strong>The store is unavailable.</strong> Pages show only what this process knows; spending is unknown, and nothing can be changed until the store is back.</p>
        `}
        <${Loaded} key=${page.id} page=${page} />
      </main>
    </div>
  `;
}

/** @param {{ page: import("./pages.js").PageEntry }} props a page's component, once its file is there */
function Loaded({ page }) {
  const [loaded, setLoaded] = useState(/** @type {{ Page?: any, error?: Error }} */ ({}));
  useEffect(() => {
    page.load().then(({ default: Page }) => setLoaded({ Page }), (error) => setLoaded({ error }));
  }, [page]);
  if (loaded.error) return html`<${Failed} error=${loaded.error} retry=${() => location.reload()} />`;
  return loaded.Page === undefined
    ? html`<div class="waiting" role="status">Loading…</div>`
    : html`<${loaded.Page} />`;
}

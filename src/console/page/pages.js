/**
 * The console's pages, in the order of the navigation. A page is a file of `pages/` with the component as its default export,
 * loaded when it is opened first, a line here and a line in `../page_files.ts`.
 */

/** @typedef {"owner" | "operator" | "member" | "auditor"} Role */

/**
 * @typedef {object} PageEntry
 * @property {string} id the first step of the address
 * @property {string} title
 * @property {string} group
 * @property {string} icon the path of a 20 by 20 drawing, in lines
 * @property {readonly Role[]} [roles] who sees it; by default everybody
 * @property {() => Promise<{ default: (props: {}) => import("./lib/html.js").Children }>} load
 */

/** @type {readonly PageEntry[]} */
export const PAGES = [
  {
    id: "overview",
    title: "Overview",
    group: "Observe",
    icon: "M3 16V9m5 7V4m5 12v-6m4 6V7",
    load: () => import("./pages/overview.js"),
  },
  {
    id: "live",
    title: "Live",
    group: "Observe",
    icon: "M3 10h3l2-5 4 10 2-5h3",
    load: () => import("./pages/live.js"),
  },
  {
    id: "explore",
    title: "Explore",
    group: "Observe",
    icon: "M9 14a5 5 0 1 0 0-10 5 5 0 0 0 0 10zm3.6-1.4L17 17",
    load: () => import("./pages/explore.js"),
  },
];

/** The page's one way to make elements: `htm` over `preact`. Values are shown as text, never as markup. */
import htm from "htm";
import { h } from "preact";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => import("preact").VNode} */
export const html = /** @type {any} */ (htm).bind(h);
export { Fragment, render } from "preact";
export { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

/**
 * Whatever may stand between two tags.
 * @typedef {import("preact").ComponentChildren} Children
 */

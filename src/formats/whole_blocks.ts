/** Fields of `extra` by which blocks of the messages format go back to a provider of it as they came. */

/** Of a text: the block that it was. */
export const WHOLE_BLOCK = "whole_block";

/** Of an image: it is part of the document before it. */
export const INSIDE = "inside_document";

/** Of a search result: its content as it came, with marks on some of its texts. */
export const MARKED = "marked_content";

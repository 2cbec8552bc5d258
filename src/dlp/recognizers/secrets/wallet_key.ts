/** Private keys of wallets, with their check digits. Sources: BIP 32; Bitcoin Core's wallet import format. */

import { base58check } from "../crypto.ts";
import { report, type ScannedView } from "../scanned_view.ts";

/** Versions of the import format: Bitcoin and its test network, Litecoin, Dogecoin, Dash. */
const IMPORTED: ReadonlySet<number> = new Set([128, 239, 176, 158, 204]);
/** Versions of extended private keys: xprv, yprv, zprv, tprv, uprv, vprv, and Litecoin's and Dogecoin's. */
const EXTENDED: ReadonlySet<number> = new Set([
  0x0488ade4,
  0x049d7878,
  0x04b2430c,
  0x04358394,
  0x044a4e28,
  0x045f18bc,
  0x019d9cfe,
  0x02fac398,
]);
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;

/** A part of the length of such a key at `[start, end)`. */
export function scanWalletKey(view: ScannedView, start: number, end: number): void {
  const word = view.text.slice(start, end);
  if (!BASE58.test(word)) return;
  const isKey = end - start === 111
    ? base58check(word, 82, (bytes) => EXTENDED.has(new DataView(bytes.buffer).getUint32(0)))
    : base58check(word, end - start === 51 ? 37 : 38, (bytes) => IMPORTED.has(bytes[0]));
  if (isKey) report(view, "PRIVATE_KEY", start, end, 0.95);
}

/** Where a page of a list, newest first, ended: the next one begins below it. */
export interface Position {
  created: number;
  id: string;
}

import { text } from 'node:stream/consumers';

/** The text of an option or argument; `-` reads standard input. */
export async function readText(given: string): Promise<string> {
  return given === '-' ? (await text(process.stdin)).trimEnd() : given;
}

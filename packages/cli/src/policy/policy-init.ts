import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { escapeText, readFault } from 'countersign/base';
import { countersignFolder } from '../base/countersign-folder.ts';
import { UsageError, type Output } from '../base/output.ts';
import { renderTable } from '../base/table.ts';
import type { CommonOptions } from '../base/command-line.ts';

export interface InitOptions extends CommonOptions {
  preset: string;
  list?: boolean;
  force?: boolean;
}

const folder = `${countersignFolder}presets/`;
const defaultFile = 'countersign.policy.yaml';

interface Preset {
  preset: string;
  /** The comment at the start of the file. */
  about: string;
  text: string;
}

/** Writes a preset to a file, which must not exist yet without --force. With --list, only prints the presets. */
export async function initPolicy(file: string | undefined, options: InitOptions, output: Output): Promise<void> {
  const presets = readPresets();
  if (options.list === true) return printPresets(presets, output);
  const chosen = presets.find(({ preset }) => preset === options.preset);
  if (chosen === undefined) {
    const names = presets.map(({ preset }) => preset).join(', ');
    throw new UsageError(`There is no preset ${options.preset}: it is one of ${names}.`);
  }
  const target = file ?? defaultFile;
  await writeFile(target, chosen.text, { flag: options.force === true ? 'w' : 'wx' }).catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new Error(`${target} exists already: choose another file, or replace it with --force.`);
    const fault = code === 'ENOENT' ? 'its folder does not exist' : readFault(cause);
    throw new UsageError(`The policy ${target} cannot be written: ${fault}.`);
  });
  if (chosen.about.startsWith('WARNING: ')) output.note(chosen.about);
  const { preset } = chosen;
  output.result(`${escapeText(target)} holds the preset ${preset} now.`, { file: target, preset });
}

function printPresets(presets: readonly Preset[], output: Output): void {
  if (output.forPeople)
    output.line(
      renderTable(
        output,
        ['PRESET', 'ABOUT'],
        presets.map(({ preset, about }) => [preset, about]),
        { whole: ['PRESET'], wrapped: ['ABOUT'] },
      ),
    );
  else for (const { preset, about } of presets) output.json({ preset, about });
}

function readPresets(): Preset[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => {
      const text = readFileSync(`${folder}${name}`, 'utf8');
      const comment = text.split('\n').filter((line) => line.startsWith('#'));
      return { preset: name.slice(0, -'.yaml'.length), about: comment.map((line) => line.slice(2)).join(' '), text };
    });
}

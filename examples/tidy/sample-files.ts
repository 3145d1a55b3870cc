import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const report = 'Quarterly report\n\nIt went well.\n';

const sampleFiles: Record<string, string> = {
  'IMG_0412.jpg': 'not really a photo\n',
  'invoice-2024.txt': 'Invoice 17: 120.00\n',
  'report.txt': report,
  'report (copy).txt': report,
  'todo.txt': 'tidy this folder\n',
  'cache/thumbnails.db': 'leftovers\n',
};

/** Creates a folder with a few untidy files, unless the folder exists. */
export async function layOutSampleFiles(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  for (const [path, content] of Object.entries(sampleFiles)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

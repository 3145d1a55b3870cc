import { appendFileSync } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { z } from 'zod';
import { type Tool, type ToolContext, defineTool } from 'countersign';
import { insideFolder } from './inside-folder.ts';
import { runProgram } from './run-program.ts';

const mostFiles = 500;
const mostBytes = 50_000;
const path = z.string().min(1).max(1_000).describe('relative to the folder');

/**
 * The tools of the tidy agent, all confined to `folder`. Each call that changes something first adds a line to `log`,
 * so that executions can be counted.
 */
export function tidyTools({ folder, log }: { folder: string; log: string }): Tool[] {
  const note = (tool: string, args: object, { callId, workflowId }: ToolContext): void =>
    appendFileSync(log, `${JSON.stringify({ workflowId, callId, tool, args })}\n`);

  const listFiles = defineTool({
    name: 'list_files',
    description: 'Lists all files of the folder, with their sizes in bytes.',
    input: z.object({}),
    risk: 'read_only',
    execute: () => list(folder),
  });

  const readFile = defineTool({
    name: 'read_file',
    description: `Reads the text of one file, at most ${mostBytes} bytes of it.`,
    input: z.object({ path }),
    risk: 'read_only',
    subject: 'path',
    execute: async (args) => readStart(await insideFolder(folder, args.path)),
  });

  const moveFile = defineTool({
    name: 'move_file',
    description: 'Moves or renames one file or folder; folders on the way are made. Never replaces a file.',
    input: z.object({ from: path, to: path }),
    subject: 'from',
    execute: async (args, context) => {
      const from = await insideFolder(folder, args.from);
      const to = await insideFolder(folder, args.to);
      await lstat(from).catch(() => refuse(`there is no '${args.from}'`));
      if (await exists(to)) refuse(`'${args.to}' is there already`);
      note('move_file', args, context);
      await mkdir(dirname(to), { recursive: true });
      await rename(from, to);
      return `moved ${args.from} to ${args.to}`;
    },
  });

  const deleteFile = defineTool({
    name: 'delete_file',
    description: 'Deletes one file.',
    input: z.object({ path }),
    risk: 'destructive',
    subject: 'path',
    execute: async (args, context) => {
      const file = await insideFolder(folder, args.path);
      const found = await lstat(file).catch(() => refuse(`there is no '${args.path}'`));
      if (!found.isFile()) refuse(`'${args.path}' is no file`);
      note('delete_file', args, context);
      await rm(file);
      return `deleted ${args.path}`;
    },
  });

  const runCommand = defineTool({
    name: 'run_command',
    description: 'Runs a program in the folder, without a shell, for at most 20 seconds.',
    input: z.object({
      program: z.string().min(1).max(200),
      arguments: z.array(z.string().max(1_000)).max(50).default([]),
    }),
    risk: 'destructive',
    subject: 'program',
    execute: (args, context) => {
      note('run_command', args, context);
      return runProgram(args.program, args.arguments, folder, context.signal);
    },
  });

  return [listFiles, readFile, moveFile, deleteFile, runCommand];
}

async function list(folder: string): Promise<{ path: string; bytes: number }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).slice(0, mostFiles);
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const file = `${parentPath}/${name}`;
      return { path: relative(folder, file), bytes: (await lstat(file)).size };
    }),
  );
}

async function readStart(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(mostBytes), 0, mostBytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function exists(place: string): Promise<boolean> {
  return lstat(place).then(
    () => true,
    () => false,
  );
}

function refuse(why: string): never {
  throw new Error(why);
}

import { createElement, type ReactElement } from 'react';
import { Box, render, Text, useApp, useInput, usePaste, useWindowSize } from 'ink';
import { type KeyPress, keyPressesOf } from './key-press.ts';

/** Columns and rows of the terminal. */
export interface Size {
  columns: number;
  rows: number;
}

export interface ScreenEvents {
  press(press: KeyPress): void;
  resize(size: Size): void;
}

/** The whole terminal, on its alternate screen. */
export interface Screen {
  /** Shows these lines unless it is closed, and resolves once the terminal has them. Each has to fit into the width. */
  draw(lines: readonly string[]): Promise<void>;
  /** Gives the terminal to another program until `use` ends. What was typed meanwhile does not arrive here. */
  lend(use: () => Promise<void>): Promise<void>;
  /** Restores the terminal. */
  close(): Promise<void>;
}

/** Takes over the terminal: alternate screen, raw keys, bracketed paste. Ink restores it when the process ends. */
export function openScreen(events: ScreenEvents): Screen {
  let lendTerminal: (use: () => Promise<void>) => Promise<void>;
  const Lines = ({ lines }: { lines: readonly string[] }): ReactElement => {
    lendTerminal = useApp().suspendTerminal;
    const { columns, rows } = useWindowSize();
    useInput((input, key) => {
      for (const press of keyPressesOf(input, key)) events.press(press);
    });
    usePaste((pasted) => events.press({ pasted }));
    return createElement(
      Box,
      { flexDirection: 'column', width: columns, height: rows, overflow: 'hidden' },
      ...lines.map((line, index) => createElement(Text, { key: index, wrap: 'truncate' }, line === '' ? ' ' : line)),
    );
  };
  const frame = (lines: readonly string[]): ReactElement => createElement(Lines, { lines });
  // `review` has checked that this is a terminal; by itself, ink draws nothing where the environment sets CI.
  const app = render(frame([]), { alternateScreen: true, exitOnCtrlC: false, interactive: true });
  const { stdout } = process;
  const resized = (): void => events.resize({ columns: stdout.columns, rows: stdout.rows });
  stdout.on('resize', resized);
  let isClosed = false;
  return {
    draw: async (lines) => {
      // Ink would mount them anew, and keep the terminal and the process for ever.
      if (isClosed) return;
      app.rerender(frame(lines));
      await app.waitUntilRenderFlush();
    },
    lend: (use) => lendTerminal(use),
    close: async () => {
      isClosed = true;
      stdout.off('resize', resized);
      app.unmount();
      await app.waitUntilExit();
    },
  };
}

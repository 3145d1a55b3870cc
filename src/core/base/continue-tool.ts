/** The name under which a run asks whether it goes on beyond a limit. Rules name it so, as a whole. */
export const continueTool = 'countersign:continue';

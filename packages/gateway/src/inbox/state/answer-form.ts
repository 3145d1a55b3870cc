/** The answers to a request, by the names of their forms. */
export type AnswerForm =
  'deny' | 'approve' | 'comment' | 'edit' | 'respond' | 'always' | 'extend' | 'delegate' | 'move';

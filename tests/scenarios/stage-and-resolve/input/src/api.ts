export const a = oldApi(1);
export const b = oldApi(2);

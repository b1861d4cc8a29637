export const a = newApi(1);
export const b = newApi(2);

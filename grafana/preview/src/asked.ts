// What is drawn, and how variables and legends are filled in.
export interface Asked {
  dashboard: string;
  prometheus: string;
  mode: 'dark' | 'light';
  from: number;
  to: number;
  step: number;
  variables: Record<string, string>;
}

export const asked: Asked = (window as any).ASKED;

export const fill = (text: string, values: Record<string, string> = asked.variables) =>
  text.replace(/\$\{(\w+)\}|\$(\w+)/g, (all, braced, bare) => values[braced ?? bare] ?? all);

export function legend(format: string | undefined, labels: Record<string, string>) {
  if (format && format !== '__auto') {
    return format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => labels[label] ?? '');
  }
  const { __name__, ...rest } = labels;
  const pairs = Object.entries(rest).map(([name, value]) => `${name}="${value}"`);
  return pairs.length ? `{${pairs.join(', ')}}` : 'Value';
}

export async function ask(expression: string, instant: boolean, step = asked.step): Promise<any[]> {
  const { from, to, prometheus } = asked;
  const path = instant ? `query?time=${to}` : `query_range?start=${from}&end=${to}&step=${step}`;
  const answer = await fetch(`${prometheus}/api/v1/${path}&query=${encodeURIComponent(fill(expression))}`);
  const found = await answer.json();
  if (found.status !== 'success') {
    throw new Error(`${expression}: ${found.error}`);
  }
  return found.data.result;
}

// JSON that pages load besides.

/** Load JSON of this site. Throws what the server says against it, or that there is no connection. */
export async function load(path, signal = null) {
  const response = await fetch(path, { signal, headers: { "X-Requested-With": "fetch" } });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  return answer;
}

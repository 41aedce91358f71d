// Sends a body of 16 MiB with node's own clients and prints the statuses of the answers.
import http from "node:http";

const [url] = process.argv.slice(2);
const body = Buffer.alloc(16 * 1024 * 1024, "x");
const headers = { "content-type": "application/json" };

const status = await new Promise((resolve, reject) => {
  const request = http.request(url, { method: "POST", headers }, (answer) => {
    answer.resume();
    answer.on("end", () => resolve(answer.statusCode));
  });
  request.on("error", reject);
  request.end(body);
});
console.log("node", status);
console.log("fetch", (await fetch(url, { method: "POST", headers, body })).status);
process.exit(0);

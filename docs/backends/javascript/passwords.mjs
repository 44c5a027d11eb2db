// The password sign-in that your backend may have already; keep yours. This one reads its users from
// PASSWORD_USERS, as user_id:name:iterations:salt:hash with salt and hash in hexadecimal, separated by commas
// (PBKDF2 with HMAC-SHA-256).
import { pbkdf2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const users = new Map();
for (const entry of (process.env.PASSWORD_USERS ?? "").split(",").filter(Boolean)) {
    const [userID, name, iterations, salt, hash] = entry.split(":");
    const [saltBytes, hashBytes] = [Buffer.from(salt, "hex"), Buffer.from(hash, "hex")];
    users.set(name, { userID, iterations: Number(iterations), salt: saltBytes, hash: hashBytes });
}
const unknown = { iterations: 600_000, salt: Buffer.from("unknown"), hash: Buffer.alloc(32) };

/** The user's ID, or undefined when the name is unknown or the password is wrong. */
export async function check(name, password) {
    const user = users.get(name) ?? unknown;
    const found = await promisify(pbkdf2)(password, user.salt, user.iterations, 32, "sha256");
    return timingSafeEqual(found, user.hash) ? user.userID : undefined;
}

export function exists(userID) {
    return [...users.values()].some((user) => user.userID === userID);
}

export function remove(userID) {
    for (const [name, user] of users) if (user.userID === userID) users.delete(name);
}

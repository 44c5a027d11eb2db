// A backend without a library: signs a user in by the iPhone app's identity token, and receives Apple's notifications.
import { createHash, createPublicKey, randomUUID, verify } from "node:crypto";

const ISSUER = "https://appleid.apple.com";

export function makeHandler({ clientID, apple = ISSUER }) {
    const keys = new Map();
    const nonces = new Set();
    const sessions = new Map(); // session -> sub

    async function key(kid) {
        if (!keys.has(kid)) {
            const response = await fetch(`${apple}/auth/keys`);
            if (!response.ok) throw new Unavailable();
            keys.clear();
            for (const jwk of (await response.json()).keys) {
                keys.set(jwk.kid, createPublicKey({ key: jwk, format: "jwk" }));
            }
        }
        return keys.get(kid);
    }

    // Returns the claims of an identity token or a notification.
    async function verified(token) {
        const [header, claims, signature] = String(token).split(".").map((part) => Buffer.from(part, "base64url"));
        let head, body;
        try {
            [head, body] = [JSON.parse(header), JSON.parse(claims)];
        } catch {
            throw new Refused("malformed");
        }
        if (head.alg !== "RS256") throw new Refused("algorithm");
        const publicKey = await key(head.kid);
        const signed = token.slice(0, token.lastIndexOf("."));
        if (!publicKey || !verify("sha256", signed, publicKey, signature)) throw new Refused("signature");
        if (body.iss !== ISSUER) throw new Refused("issuer");
        if (body.aud !== clientID) throw new Refused("audience");
        if (!(body.exp > Date.now() / 1000)) throw new Refused("expired");
        return body;
    }

    const calls = {
        "POST /nonce": () => {
            const nonce = randomUUID();
            nonces.add(nonce);
            return { nonce };
        },
        "POST /sign-in": async ({ identity_token, nonce }) => {
            const claims = await verified(identity_token);
            // The app gives Apple the hash. A nonce is valid for one sign-in.
            const hash = createHash("sha256").update(String(nonce)).digest("hex");
            if (!nonces.delete(nonce) || claims.nonce !== hash) throw new Refused("nonce");
            const session = randomUUID();
            sessions.set(session, claims.sub);
            return { session };
        },
        "POST /apple/notifications": async ({ payload }) => {
            const claims = await verified(payload);
            if (typeof claims.events !== "string") throw new Refused("no events");
            const event = JSON.parse(claims.events);
            if (event.type === "consent-revoked" || event.type === "account-deleted") {
                for (const [session, sub] of sessions) if (sub === event.sub) sessions.delete(session);
            }
            return {};
        },
        "GET /me": (_, request) => {
            const sub = sessions.get(request.headers.authorization?.replace("Bearer ", ""));
            if (!sub) throw new Refused("signed out");
            return { sub };
        },
    };

    return async (request, response) => {
        let status = 200, answer;
        try {
            const call = calls[`${request.method} ${request.url}`];
            if (!call) throw new Refused("unknown path");
            let text = "";
            for await (const part of request) text += part;
            answer = await call(text ? JSON.parse(text) : {}, request);
        } catch (error) {
            status = error instanceof Refused ? 401 : error instanceof SyntaxError ? 400 : 503;
            answer = { error: error.message };
        }
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    };
}

class Refused extends Error {}
class Unavailable extends Error {}

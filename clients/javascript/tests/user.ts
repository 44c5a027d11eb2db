// A user's program in TypeScript. It is compiled, and never runs.
import { Events, SiwaClient, SiwaError, type CursorStore } from "siwa-client";
import { FileCursor } from "siwa-client/file-cursor";
import { expressErrors, fetchRoute, fetchWebhook } from "siwa-client/frameworks";
import type { Account, Event } from "siwa-client/models";

const client = new SiwaClient({ url: "http://siwa", apiKey: "key", timeoutSeconds: 5, logger: console });
const store: CursorStore = new FileCursor("cursor");

export async function use(form: unknown): Promise<Account> {
    const outcome = await client.signIn(form, { create: false });
    const since: Date | undefined = outcome.credential.since;
    const feed: Events = client.events(store, { resync: async () => void await client.states(["a"]) });
    for await (const event of feed) {
        const { type, account_id: accountID }: Event = event;
        if (type === "credential_revoked" && since && event.occurred_at > since) return client.account(accountID ?? "");
    }
    await client.disable(outcome.account.id, "a_new_reason", new Date());
    // @ts-expect-error: no such member.
    outcome.account.unknown_member;
    // @ts-expect-error: a number is no ID.
    await client.account(1);
    // @ts-expect-error: the bytes are needed, and not the text.
    await client.verifyWebhook(new Headers(), "text");
    return outcome.account;
}

export const handlers = [
    fetchRoute(async (request: Request) => new Response((await client.verifyToken(request.headers.get("authorization"), "api")).sub)),
    fetchWebhook(client, (event) => console.log(event.type.length)),
];

export function statusOf(error: unknown): number | undefined {
    expressErrors(error, {}, {}, () => {});
    return error instanceof SiwaError ? error.forApp().status : undefined;
}

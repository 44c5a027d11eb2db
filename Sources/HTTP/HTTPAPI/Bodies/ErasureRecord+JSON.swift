import AppleAccounts
import StrictJSON

extension JSONWriter {
    /// Writes `erasure`: the work that is done and the work that is left. Nothing in it identifies the user.
    mutating func value(_ record: ErasureRecord) {
        beginObject()
        member("id", record.id.rawValue)
        member("account_id", record.accountID.rawValue)
        member("state", record.finishedAt == nil ? "in_progress" : "completed")
        member("requested_at", record.requestedAt.rfc3339)
        member("finished_at", ifPresent: record.finishedAt?.rfc3339)
        member("personal_data", "erased")
        name("tokens")
        beginArray()
        for token in record.tokens {
            element()
            value(token)
        }
        endArray()
        let remaining = ManualRevocation.needed(after: record)
        member("user_must_revoke", !remaining.isEmpty)
        if !remaining.isEmpty {
            name("user_must_revoke_at")
            beginArray()
            for revocation in remaining {
                element()
                beginObject()
                member("client_id", revocation.clientID.rawValue)
                member("cause", revocation.cause)
                endObject()
            }
            endArray()
            member("instructions", ManualRevocation.instructions)
        }
        endObject()
    }

    private mutating func value(_ token: ErasureToken) {
        beginObject()
        member("client_id", token.clientID.rawValue)
        if case .done(let outcome) = token.step {
            member("outcome", outcome.rawValue)
        } else {
            member("outcome", "pending")
        }
        member("cause", ifPresent: token.cause)
        member("attempts", token.attempts)
        endObject()
    }
}

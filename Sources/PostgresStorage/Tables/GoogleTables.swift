import AppleAccounts
import AuthorizationServer
import Cryptography
import SQLTables

/// Refresh tokens that have ended, for Google. Nothing in it leads to a person, so it outlives an erasure,
/// which Google must be told of too.
struct SecurityEventDeliveryTable: Table {
    static let name = "security_event_delivery"

    let id: Column<UniqueID>
    let oauthClientID: Column<OAuthClientID>
    let doubleSHA512: Column<SHA512Digest>
    let createdAt: Column<Moment>
    let attempts: Column<Int64>
    let nextAttemptAt: Column<Moment>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        oauthClientID = columns("oauth_client", .operational)
        doubleSHA512 = columns("double_sha512", .operational)
        createdAt = columns("created_at", .operational)
        attempts = columns("attempts", .operational)
        nextAttemptAt = columns("next_attempt_at", .operational)
    }
}

extension SecurityEventDeliveryTable {
    func delivery(_ row: PostgresRow) throws(StorageError) -> SecurityEventDelivery {
        SecurityEventDelivery(
            id: try row.required(id), oauthClientID: try row.required(oauthClientID),
            doubleSHA512: try row.required(doubleSHA512), createdAt: try row.required(createdAt),
            attempts: try row.required(attempts), nextAttemptAt: try row.required(nextAttemptAt))
    }
}

/// Google's security events. After an erasure the `jti` stays, by which a repetition is recognized.
struct GoogleEventTable: Table {
    static let name = "google_event"

    let jti: Column<String>
    let googleSubject: Column<String>
    let payload: Column<ByteString>
    let receivedAt: Column<Moment>

    init(_ columns: inout ColumnList) {
        jti = columns("jti", .operational)
        googleSubject = columns("google_subject", .personal)
        payload = columns("payload", .personal)
        receivedAt = columns("received_at", .operational)
    }
}

extension GoogleEventTable {
    /// SQL text that clears what is about the person.
    static var clearing: String {
        "payload = ''::bytea, \(sensitiveNames(except: .only { [$0.payload] }).cleared)"
    }
}

/// What Google stated last about Google accounts.
struct GoogleAccountTable: Table {
    static let name = "google_account"

    let googleSubject: Column<String>
    let isDisabled: Column<Bool>
    let moment: Column<Moment>

    init(_ columns: inout ColumnList) {
        googleSubject = columns("google_subject", .personal)
        isDisabled = columns("is_disabled", .personal)
        moment = columns("moment", .personal)
    }
}

extension ColumnChoice where T == GoogleAccountTable {
    static var values: Self { except { [$0.googleSubject] } }
}

extension GoogleAccountTable {
    func account(_ row: PostgresRow) throws(StorageError) -> GoogleAccountRecord {
        GoogleAccountRecord(
            subject: try row.required(googleSubject), isDisabled: try row.required(isDisabled),
            moment: try row.required(moment))
    }
}

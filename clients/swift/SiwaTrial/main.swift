import Foundation
import SiwaClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// In your backend, a table of your database.
actor Sessions {
    /// The account ID, and the time of the authorization with which the session began.
    private var since: [String: Date] = [:]

    func begin(_ account: Account, _ credential: Credential) { since[account.id] = credential.since }
    /// A late event must not end the session of a newer sign-in.
    func end(_ accountID: String, until time: Date) { since = since.filter { $0 != accountID || $1 > time } }
    func endAll() { since = [:] }
    var isEmpty: Bool { since.isEmpty }
}

let environment = ProcessInfo.processInfo.environment
let siwa = try Siwa(
    url: environment["SIWA_URL"] ?? "http://127.0.0.1:8080", apiKey: "siwa_development",
    clientID: "com.example.app")
let sessions = Sessions()

// Without a cursor, or with the cursor of another database, events were missed: here all sessions end.
let feed = siwa.events(
    cursor: FileCursor(path: "cursor.txt"), resync: { await sessions.endAll() }, wait: 5)
try await feed.begin()  // before the first sign-in, because its revocation could be missed
Task {
    await feed.run { event in
        guard [.credentialRevoked, .sessionsEnded].contains(event.type) else { return }
        await sessions.end(event.accountID ?? "", until: event.occurredAt)
    }
}

// The iPhone gets a nonce from the backend, and a token from Apple for its digest.
func apple(_ path: String, _ members: JSONValue = [:]) async throws -> JSONValue {
    let address = (environment["APPLE"] ?? "http://127.0.0.1:8081") + "/emulator/" + path
    guard let url = URL(string: address) else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = try JSONEncoder().encode(members)
    return try JSONDecoder().decode(JSONValue.self, from: await URLSession.shared.data(for: request).0)
}
let nonce = try await siwa.makeNonce()
let user = try await apple("users", ["first_name": "Ada", "last_name": "Lovelace"])
let sub = user["sub"]?.string ?? ""
var form = try await apple(
    "identity-tokens?format=sign-in",
    ["sub": .string(sub), "code": .boolean(true), "nonce": .string(nonce.nonceSHA256)])
form["nonce"] = .string(nonce.nonce)

// The backend signs the user in.
let outcome = try await siwa.signIn(form: form)
await sessions.begin(outcome.account, outcome.credential)
print("Signed in:", outcome.account.firstName ?? "", outcome.account.id)

// In the settings of the iPhone, the user stops using the app.
_ = try await apple("users/\(sub)/revoke-consent")
while await !sessions.isEmpty { try await Task.sleep(for: .milliseconds(100)) }
print("The session has ended. State:", try await siwa.state(of: sub).state.rawValue)
print("Deleted:", try await siwa.delete(outcome.account.id).personalData)

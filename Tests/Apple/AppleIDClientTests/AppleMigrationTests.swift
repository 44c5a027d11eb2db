import AppleIDClient
import ScriptedHTTP
import TestSupport
import Testing

@Suite(.timeLimit(.hung)) struct AppleMigrationTests {
    @Test func `requests a transfer identifier with a cached access token`() async throws {
        let time = ManualClock(millisecondsSince1970: 1_700_000_000_000)
        try await AskedClient.with(
            { $0 == 1 || $0 == 4 ? .token : .json(#"{"transfer_sub":"0.t.1"}"#) }, time: time
        ) { client, server in
            for _ in 0..<2 {
                let transfer = try await client.transferSubject(
                    of: "0.a.1", to: "F6G7H8I9J0", clientID: AskedClient.clientID)
                #expect(transfer == "0.t.1")
            }
            #expect(server.requests.count == 3)
            let token = try AppleTokenClientTests.form(server.requests[0])
            #expect(token["grant_type"] == "client_credentials")
            #expect(token["scope"] == "user.migration")
            #expect(server.requests[1].hasPrefix("POST /auth/usermigrationinfo HTTP/1.1\r\n"))
            #expect(server.requests[1].contains("\r\nAuthorization: Bearer a.t\r\n"))
            let form = try AppleTokenClientTests.form(server.requests[1])
            #expect(form["sub"] == "0.a.1")
            #expect(form["target"] == "F6G7H8I9J0")
            #expect(form["client_id"] == AskedClient.clientID)
            #expect(form["client_secret"] != nil)
            time.secondsSince1970 += 3240
            _ = try await client.transferSubject(
                of: "0.a.1", to: "F6G7H8I9J0", clientID: AskedClient.clientID)
            #expect(server.requests.count == 5)
        }
    }

    @Test(arguments: [
        (#"{"sub":"0.b.1"}"#, MigratedUser(subject: "0.b.1", email: nil, isPrivateEmail: nil)),
        (
            #"{"sub":"0.b.1","email":"a@privaterelay.appleid.com","is_private_email":true}"#,
            MigratedUser(subject: "0.b.1", email: "a@privaterelay.appleid.com", isPrivateEmail: true)
        ),
        (
            #"{"sub":"0.b.1","email":"a@example.com","is_private_email":"false"}"#,
            MigratedUser(subject: "0.b.1", email: "a@example.com", isPrivateEmail: false)
        ),
    ])
    func `reads a user's new identity for the recipient`(response: String, user: MigratedUser) async throws {
        try await AskedClient.with({ $0 == 1 ? .token : .json(response) }) { client, server in
            let found = try await client.recipient(ofTransferSubject: "0.t.1", clientID: AskedClient.clientID)
            #expect(found == user)
            #expect(!"\(found)".contains("0.b.1"))
            #expect(try AppleTokenClientTests.form(server.requests[1])["transfer_sub"] == "0.t.1")
        }
    }

    @Test(
        arguments: [Call.transferSubject, .recipient],
        ["", "{}", "<html>", #"{"sub":"","transfer_sub":""}"#, #"{"sub":1,"transfer_sub":1}"#])
    func `any other response is unusable`(call: Call, response: String) async throws {
        try await AskedClient.with({ $0 == 1 ? .token : .json(response) }) { client, _ in
            #expect(await call.failure(client) == AppleCallError(.responseUnusable))
        }
    }

    @Test func `an access token that has expired early is replaced once`() async throws {
        try await AskedClient.with({ number in
            switch number {
            case 1, 4: .token
            case 3: .refusal("invalid_token", status: 401)
            default: .json(#"{"transfer_sub":"0.t.1"}"#)
            }
        }) { client, server in
            #expect(await Call.transferSubject.failure(client) == nil)
            #expect(await Call.transferSubject.failure(client) == nil)
            #expect(server.requests.count == 5)
        }
    }

    @Test func `a refused user is an error at once`() async throws {
        try await AskedClient.with({ $0 == 1 ? .token : .refusal("invalid_request") }) { client, server in
            let refusal = AppleCallError(.rejected, appleError: .invalidRequest)
            #expect(await Call.recipient.failure(client) == refusal)
            #expect(await Call.recipient.failure(client) == refusal)
            #expect(server.requests.count == 3)
        }
    }
}

import AppAttestation
import AppleAccounts
import AppleIdentity
import ArgumentParser
import AttestationMint
import Encodings
import Testing

@testable import Composition
@testable import Inspection
@testable import siwa

/// Checks which options `siwa verify` takes for each kind of input.
@Suite struct VerifyOptionsTests {
    static let app = ["--team-id", "A1B2C3D4E5", "--bundle-id", "com.example.app"]
    static let keyID = "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV0="
    static let attestation =
        ["--kind", "attestation", "--key-id", keyID, "--environment", "production", "--challenge", "c"] + app
    static let assertion = ["--kind", "assertion", "--counter", "0", "--client-data", "YWJj"] + app

    @Test func `takes a token with its audience`() throws {
        #expect(try Verify.parse(["--client-id", "com.example.app"]).kind == .token(.identityToken))
        let notification = try Verify.parse(["--client-id", "com.example.app", "--kind", "notification"])
        #expect(notification.kind == .token(.notification))
    }

    @Test func `takes an attestation, and an assertion with the key`() throws {
        #expect(try Verify.parse(Self.attestation).kind == .object(.attestation))
        let point = Base64.encode(try MintedKey().point)
        let parsed = try Verify.parse(Self.assertion + ["--public-key", point])
        #expect(parsed.kind == .object(.assertion) && parsed.attestation.counter == 0)
    }

    @Test func `takes a bundle ID with an underscore`() throws {
        let options = Self.attestation.map { $0 == "com.example.app" ? "com.example.my_app" : $0 }
        #expect(try Verify.parse(options).attestation.bundleID == "com.example.my_app")
    }

    @Test func `takes tokens of this service with their issuer, and refresh tokens with the database`() throws
    {
        for kind in ["access-token", "id-token", "security-event"] {
            let parsed = try Verify.parse(["--kind", kind, "--issuer", "https://a.example"])
            #expect(parsed.issued.keySetURL == "https://a.example/oauth/jwks.json")
        }
        #expect(try Verify.parse(["--kind", "refresh-token", "--database"]).issued.readsDatabase)
    }

    @Test func `takes the platform of an attestation, and of nothing else`() throws {
        let parsed = try Verify.parse(Self.attestation + ["--platform", "macos"])
        #expect(parsed.attestation.platform == .macOS)
        let point = Base64.encode(try MintedKey().point)
        for others in [Self.assertion + ["--public-key", point], ["--client-id", "a"]] {
            _ = try Verify.parse(others)
            #expect(throws: (any Error).self) { try Verify.parse(others + ["--platform", "macos"]) }
        }
    }

    @Test func `takes the client data hash itself, of 16 bytes or more`() throws {
        let others = Self.attestation.filter { $0 != "--challenge" && $0 != "c" }
        _ = try Verify.parse(others + ["--client-data-hash", "ZXhhbXBsZV9zZXJ2ZXJfY2hhbGxlbmdl"])
        #expect(throws: (any Error).self) { try Verify.parse(others + ["--client-data-hash", "YWJj"]) }
    }

    @Test(arguments: [
        [], ["--kind", "token", "--client-id", "a"], ["--client-id", ""], ["--client-id", "a"] + app,
        ["--client-id", "a", "--counter", "1"], ["--kind", "attestation"] + app,
        attestation + ["--client-id", "a"], attestation + ["--nonce", "n"], attestation + ["--counter", "1"],
        attestation + ["--client-data", "YWJj"], ["--kind", "access-token"],
        ["--kind", "refresh-token", "--issuer", "https://a.example"],
        ["--kind", "id-token", "--issuer", "https://a.example", "--database"],
        ["--kind", "access-token", "--issuer", "https://a.example", "--nonce", "n"],
        ["--kind", "refresh-token", "--client-id", "shop"], ["--client-id", "a", "--issuer", "b"],
        ["--client-id", "a", "--database"],
        assertion, assertion + ["--public-key", "YWJj"], assertion + ["--key-id", keyID],
        ["--kind", "attestation", "--key-id", "YWJj", "--environment", "production", "--challenge", "c"]
            + app,
        ["--kind", "attestation", "--key-id", keyID, "--environment", "sandbox", "--challenge", "c"] + app,
        attestation.map { $0 == "com.example.app" ? "com.example.*" : $0 },
        attestation.map { $0 == "A1B2C3D4E5" ? "a1b2c3d4e5" : $0 },
    ])
    func `refuses options that are missing, malformed, or of another kind`(arguments: [String]) {
        #expect(throws: (any Error).self) { try Verify.parse(arguments) }
    }
}

/// The lines that `siwa audit verify` prints, to be kept elsewhere.
@Suite struct AuditLinesTests {
    /// Returns the lines about a log of two rows about one user.
    private static func lines(isErased: Bool) throws -> [String] {
        var generator = SystemRandomNumberGenerator()
        let account = AccountID(UniqueID(at: Moment(seconds: 1), using: &generator))
        var rows: [AuditRow] = []
        for _ in 0..<2 {
            let sealed = SealedAuditEntry(
                AuditEntry(.consoleShow, by: .service, at: Moment(seconds: 1), person: AuditPerson(account)),
                using: &generator)
            let link = (rows.last?.link ?? .beginning).next(sealed.canonicalBytes)
            rows.append(AuditRow(isErased ? sealed.withoutPerson : sealed, link: link))
        }
        let head = try #require(rows.last?.link)
        var verification = AuditVerification(AuditChain(anchor: .beginning, head: head))
        for row in rows { try verification.check(row) }
        try verification.finish()
        let lines = VerifyAudit.lines(verification)
        #expect(lines.first == "The audit log is as it was written: rows 1 to 2.")
        #expect(lines.last == "Newest hash: \(head.hashText)")
        return lines
    }

    @Test(arguments: [(false, 0), (true, 2)])
    func `the number of rows whose user was erased stands beside the hash, also when it is 0`(
        isErased: Bool, count: Int
    ) throws {
        let lines = try Self.lines(isErased: isErased)
        #expect(lines.count == 3 && lines[1] == "Rows whose user was erased: \(count).")
    }

    @Test func `an empty log has one line`() {
        #expect(VerifyAudit.lines(AuditVerification(.empty)) == ["The audit log has no rows."])
    }
}

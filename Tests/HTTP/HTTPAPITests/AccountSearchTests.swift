import AppleAccounts
import StorageConformance
import StrictJSON
import Testing
import TokenMint

/// `GET /v1/accounts` as a search, and the events of one account.
@Suite(.service()) struct AccountSearchTests {
    let service = RunningService.current

    private static let second: ClientID = "com.example.second"

    /// Two users of the first app, and one of the second.
    private static func fill(_ store: any AccountStore) async throws -> [Account] {
        var accounts: [Account] = []
        for number in 0..<3 {
            accounts.append(
                try await store.signIn(
                    .sample(
                        key: .sample("person-\(number)"), clientID: number == 2 ? second : "com.example.app",
                        authorizedAt: Moment(milliseconds: Int64(number + 1) * 100_000),
                        email: .sample("person\(number)@example.com"), firstName: "Ada")
                ).account)
        }
        return accounts
    }

    private static func ids(_ response: ProbeResponse) -> [String] {
        response.json?["accounts"]?.array?.compactMap { $0["id"]?.string } ?? ["no list"]
    }

    @Test func `finds accounts by address, and gives pages with a cursor`() async throws {
        let people = try await Self.fill(service.store)
        let one = try await service.get("/v1/accounts?email=PERSON1%40example.com").expecting(200)
        #expect(Self.ids(one) == [people[1].id.rawValue])
        expect(one.json, has: ["has_more": false, "cursor": nil])
        var found: [String] = []
        var target = "/v1/accounts?name=ada&limit=2"
        for _ in 0..<2 {
            let page = try await service.get(target)
            found += Self.ids(page)
            guard let cursor = page.json?["cursor"]?.string else { break }
            target = "/v1/accounts?name=ada&limit=2&after=\(cursor)"
        }
        #expect(found == people.reversed().map(\.id.rawValue))
        let young = try await service.get("/v1/accounts?created_after=1970-01-01T00:03:00Z")
        #expect(Self.ids(young) == [people[2].id.rawValue, people[1].id.rawValue])
    }

    @Test func `filters by any client ID of an app, and by state`() async throws {
        let people = try await Self.fill(service.store)
        try await service.store.notify(.sample(key: .sample("person-0"), at: 500_000))
        let web = try await service.get("/v1/accounts?client_id=com.example.web&state=revoked")
        #expect(Self.ids(web) == [people[0].id.rawValue])
        let other = try await service.get("/v1/accounts?client_id=\(Self.second.rawValue)&state=revoked")
        #expect(Self.ids(other) == [])
    }

    @Test(arguments: [
        "email=person0%40example.com", "name=Ada", "state=authorized", "disabled=false", "linked=false", "",
        "created_after=1970-01-01T00:00:00Z", "apple_token=false", "reason=signed_in",
    ])
    func `a limited key finds the people of its app only`(query: String) async throws {
        let people = try await Self.fill(service.store)
        let response = try await service.get("/v1/accounts?\(query)", secret: RunningService.limitedSecret)
        #expect(response.status == 200)
        #expect(Self.ids(response) == (query.hasPrefix("email") ? [] : [people[2].id.rawValue]))
        let foreign = try await service.get(
            "/v1/accounts?client_id=\(TokenMint.clientID)", secret: RunningService.limitedSecret)
        #expect(foreign.code == "caller_forbidden")
    }

    @Test(arguments: [
        // The one account of an exact key is what a sign-in returns too.
        ("email=person1%40example.com", nil), ("client_id=com.example.app&sub=person-1", nil),
        ("email=nobody%40example.com", nil), ("name=ada", "3 accounts"), ("name=ada&limit=1", "1 account"),
        ("limit=1", "1 account"), ("client_id=com.example.second", "1 account"),
        ("client_id=com.example.second&limit=1", "1 account"), ("state=revoked", "0 accounts"),
    ]) func `the audit log has each search that can go through people, whatever the size of its page`(
        query: String, detail: String?
    ) async throws {
        _ = try await Self.fill(service.store)
        #expect(try await service.get("/v1/accounts?\(query)").status == 200)
        #expect(try await Self.exports(service) == (detail.map { [$0] } ?? []))
    }

    @Test func `nobody reads all people one by one without rows of the audit log`() async throws {
        let people = try await Self.fill(service.store)
        var found: [String] = []
        var target = "/v1/accounts?limit=1"
        while found.count < people.count {
            let page = try await service.get(target)
            found += Self.ids(page)
            guard let cursor = page.json?["cursor"]?.string else { break }
            target = "/v1/accounts?limit=1&after=\(cursor)"
        }
        #expect(found.count == people.count)
        #expect(try await Self.exports(service) == ["1 account", "1 account", "1 account"])
    }

    /// Details of the rows about accounts that were handed out.
    private static func exports(_ service: RunningService) async throws -> [String] {
        let store = try #require(service.store as? any AuditStore)
        return try await store.auditRows(after: 0, limit: 100)
            .filter { $0.facts.action == .accountsExported }.map { $0.facts.detail ?? "" }
    }

    @Test func `gives the events of one account, also after its erasure`() async throws {
        let people = try await Self.fill(service.store)
        let path = "/v1/accounts/\(people[0].id.rawValue)/events"
        let first = try await service.get("\(path)?limit=1")
        #expect(first.json?["events"]?.array?.count == 1)
        #expect(first.json?["has_more"]?.bool == true)
        let cursor = try #require(first.json?["cursor"]?.string)
        let rest = try await service.get("\(path)?after=\(cursor)")
        #expect(rest.json?["events"]?.array?.map { $0["type"]?.string } == ["credential_authorized"])
        _ = try await service.call("DELETE", "/v1/accounts/\(people[0].id.rawValue)")
        let all = try await service.get(path)
        #expect(all.json?["events"]?.array?.last?["type"]?.string == "account_erased")
        #expect(!all.text.contains("person-0"))
        #expect(try await service.get(path, secret: RunningService.limitedSecret).code == "account_not_found")
    }
}

public import AppleAccounts

/// The searches that must be fast, each with values that a database of `ManyPeople` has.
public enum SearchTrial {
    public struct Question: Sendable {
        public let name: String
        public let search: AccountSearch

        init(
            _ name: String, _ key: AccountSearch.Key? = nil, _ filter: AccountFilter = AccountFilter(),
            scope: AppScope = .all
        ) {
            self.name = name
            search = AccountSearch(key: key, filter: filter, scope: scope)
        }
    }

    /// Number of people in the test database: a few, or `SIWA_TEST_PEOPLE` for a measurement.
    public static func people(_ environment: [String: String]) -> Int {
        environment["SIWA_TEST_PEOPLE"].flatMap { Int($0) } ?? 3000
    }

    /// - Parameter count: The number of people. The middle one is searched for.
    public static func questions(_ count: Int) -> [Question] {
        // Not a person with a relay address.
        let person = count / 6 * 3 + 1
        let some = AppScope.only(["com.example.b"])
        return [
            Question("address", .email("person\(person)@example.com")),
            Question("relay address", .email("R\(count / 3 * 3 - 3)@privaterelay.appleid.com")),
            Question("no such address", .email("nobody@example.com")),
            Question("rare last name", .name("Name\(person)")),
            Question("frequent first name", .name("Ada")),
            Question("both names", .name("Ada Name\(person / 2 * 2)")),
            Question("sub", .subject(ManyPeople.subject(person))),
            Question("newest people"),
            Question("people of one app", scope: some),
            Question("people of a rare app", scope: .only(["com.example.rare"])),
            Question("revoked", nil, AccountFilter(state: .revoked)),
            Question("revoked for a reason that is rare", nil, AccountFilter(reason: .appleAccountDeleted)),
            Question("disabled", nil, AccountFilter(isDisabled: true)),
            Question(
                "disabled, of a rare app", nil, AccountFilter(isDisabled: true),
                scope: .only(["com.example.rare"])),
            Question("linked", nil, AccountFilter(isLinked: true)),
            Question("token held", nil, AccountFilter(holdsAppleToken: true)),
            Question("no token held", nil, AccountFilter(holdsAppleToken: false)),
            Question("created after", nil, AccountFilter(createdAfter: ManyPeople.moment(person))),
            Question(
                "created after, of a rare app", nil, AccountFilter(createdAfter: ManyPeople.moment(-1)),
                scope: .only(["com.example.rare"])),
        ]
    }

    /// Asks every question twice. Prints the times, where there are enough people for a measurement.
    ///
    /// - Parameter name: The store, in the printed lines.
    /// - Returns: The names of the questions whose first page is not as it should be.
    public static func wrongPages(
        of store: some AccountSearchStore, named name: String, people count: Int
    ) async throws -> [String] {
        let now = ManyPeople.moment(count)
        var wrong: [String] = []
        for question in questions(count) {
            let begin = ContinuousClock.now
            let page = try await store.accounts(question.search, after: nil, limit: 25, at: now)
            let cold = ContinuousClock.now - begin
            let again = ContinuousClock.now
            _ = try await store.accounts(question.search, after: nil, limit: 25, at: now)
            if count > 100_000 {
                let warm = ContinuousClock.now - again
                print("\(name), \(question.name): \(page.accounts.count), \(cold), \(warm)")
            }
            let isEmpty = question.name == "no such address"
            if page.accounts.isEmpty != isEmpty, page.next == nil { wrong.append(question.name) }
        }
        return wrong
    }
}

/// Fills a database with people by SQL, a million in a minute. Every third has a relay address, 2% are revoked, one
/// in a thousand is disabled, 5% are linked; every second person is called Ada.
package enum ManyPeople {
    package static func subject(_ number: Int) -> AppleSubject {
        AppleSubject(stringLiteral: "000001.\(number)")
    }

    /// Time of creation: one person each second from 2024 on.
    package static func moment(_ number: Int) -> Moment {
        Moment(milliseconds: 1_704_067_200_000 + Int64(number) * 1000)
    }

    /// The columns of `subject` that both stores have, and the values for the person `i`.
    package static let subjectColumns = """
        id, team_id, sub, account_id, created_at, email, email_is_verified, email_is_private, email_at,
        first_name, last_name
        """
    package static let credentialColumns = """
        subject_id, app_id, authorized_at, authorized_source, revoked_at, revoked_reason, revoked_source,
        last_sign_in_at, email_at, refresh_token, disabled_at, disabled_until, disabled_reason
        """
}

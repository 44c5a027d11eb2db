public import AppleAccounts
import Foundation
package import SQLTables
import TestSupport

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

/// The lists of columns with which the benchmark fills the databases of the service: SQL in its Python files, which no
/// compiler compares with the tables.
package enum BenchmarkRows {
    package struct List: Sendable {
        /// The last Python function that begins before the list; empty for a list that several functions use.
        package let function: String
        package let table: String
        package let columns: [String]

        package init(function: String, table: String, columns: [String]) {
            (self.function, self.table, self.columns) = (function, table, columns)
        }
    }

    /// Columns that the database numbers.
    private static let numbered: Set = ["team.id", "app.id", "subject.id"]

    /// All lists, in the order of the files.
    package static func lists() throws -> [List] {
        let folder = ProjectFolder.root.appending(components: "Benchmarks", "bench")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try names.filter { $0.hasSuffix(".py") }.sorted().flatMap { name in
            lists(in: try String(contentsOf: folder.appending(path: name), encoding: .utf8))
        }
    }

    /// Returns the mistakes in lists that this store would refuse.
    package static func mistakes(in lists: [List], of tables: [TableDeclaration]) -> [String] {
        lists.flatMap { list -> [String] in
            guard let table = tables.first(where: { $0.name == list.table }) else {
                return ["\(list.table): no such table"]
            }
            let known = Set(table.columns.map(\.name))
            let missing = table.columns.filter {
                $0.presence == .required && !numbered.contains("\(table.name).\($0.name)")
                    && !list.columns.contains($0.name)
            }
            return list.columns.filter { !known.contains($0) }.map { "\(list.table).\($0): no such column" }
                + missing.map { "\(list.table).\($0.name): is missing" }
        }
    }

    static func lists(in text: String) -> [List] {
        // Python joins texts that stand side by side.
        let text = text.replacing(#/"\s*\n\s*f?"/#, with: "")
        return text.matches(
            of: #/(INSERT INTO |")(?<table>[a-z_]+)( AS \w+)? \(\s*(?<columns>[a-z_]+(,\s*[a-z_]+)+)\s*\)/#
        ).map { list in
            List(
                function: text[..<list.range.lowerBound].matches(of: #/def (\w+)/#).last.map { String($0.1) }
                    ?? "",
                table: String(list.output.table),
                columns: list.output.columns.split { $0 == "," || $0.isWhitespace }.map(String.init))
        }
    }
}

/// Measures what the history costs sign-ins of known users.
package enum SignInPace {
    /// Returns the times of one sign-in of known users in batches of 64: again on the same day, which the history does
    /// not note, and on a new day, which it notes.
    package static func measure(
        _ store: some AccountStore, users: Int, rounds: Int
    ) async throws -> (sameDay: Duration, newDay: Duration) {
        let day: Int64 = 86_400_000
        func round(_ moment: Int64) async throws -> Duration {
            let begin = ContinuousClock.now
            for start in stride(from: 0, to: users, by: 64) {
                let commands = (start..<min(start + 64, users)).map { number -> AccountCommand in
                    .signIn(
                        .sample(
                            key: .sample(AppleSubject(stringLiteral: "known-\(number)")),
                            authorizedAt: Moment(milliseconds: moment),
                            receivedAt: Moment(milliseconds: moment)))
                }
                _ = try await store.commit(commands)
            }
            return (ContinuousClock.now - begin) / users
        }
        _ = try await round(day)
        var (same, new) = (Duration.zero, Duration.zero)
        for number in 1...Int64(rounds) {
            new += try await round((number + 1) * day)
            same += try await round((number + 1) * day + 1000)
        }
        return (same / rounds, new / rounds)
    }
}

import AppleAccounts
import Testing

@testable import PostgresStorage

@Suite struct PostgresURLTests {
    @Test(
        arguments: [
            "postgres://user:secret@host/db", "postgresql://host",
            "postgres://user@/db?host=/var/run/postgresql",
            "postgres://u:se%40cr%2Fet@a:1,b:2/db?target_session_attrs=read-write&sslmode=verify-full",
            "postgres:///db?user=u&password=secret", "postgres://u:p?q@host/db",
        ])
    func `takes what libpq takes`(text: String) throws {
        #expect(try PostgresURL(text).text == text)
    }

    @Test(
        arguments: [
            "", "secret", "postgres:", "mysql://u:secret@host/db", "host=x password=secret",
            // A character of the password that must be encoded.
            "postgres://u:sec@ret@host/db", "postgres://u:sec/ret@host/db", "postgres://u:sec%ret@host/db",
            "postgres://u:secret", "postgres://host:secret/db", "postgres://u:secret@host/db?nosuch=secret",
            "postgres://u:secret@[::1/db", "postgres://u:secret\u{0}@host/db",
        ])
    func `refuses what can be misread, and repeats nothing of it`(text: String) {
        let error = #expect(throws: StorageError.self) { _ = try PostgresURL(text) }
        #expect(error?.code == .unavailable)
        for piece in ["secret", "sec", "ret@"] {
            #expect(error?.debugDescription.contains(piece) == false)
        }
    }

    @Test func `takes a password out of a message`() throws {
        let url = try PostgresURL("postgres://u:se%40cret@host/db")
        #expect(url.scrub("no se@cret here") == "no [password] here")
        #expect(try PostgresURL("postgres://u@host/db").scrub("as it is") == "as it is")
    }

    @Test func `knows whether there are several hosts`() throws {
        #expect(try PostgresURL("postgres://a,b/db").hasSeveralHosts)
        #expect(try PostgresURL("postgres:///db?hostaddr=10.0.0.1,10.0.0.2").hasSeveralHosts)
        #expect(try !PostgresURL("postgres://a/db?hostaddr=10.0.0.1").hasSeveralHosts)
    }
}

import HTTPTypes
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// Behaviour of a backend without a cursor, and with accounts whose ID has changed.
extension BackendHandlerTests {
    /// Makes siwa unavailable at the start of the backend, and slow afterwards.
    static func makeUnavailable(_ proxy: DisturbingProxy) {
        proxy.add(
            .init(target: "after=latest", status: .serviceUnavailable, code: "overloaded", times: 3))
        proxy.hold("after=latest")
    }

    /// Starts a new backend, which has no users and therefore requests no states.
    static func start(_ trial: Trial) async throws {
        try await eventually { trial.proxy.isHolding }
        let early = try await trial.app.signIn(try await newSubject(trial))
        #expect(early.status == 503 && early.error == "try_again")
        #expect(try await trial.app.call(.GET, "/me", session: "invented").error == "session_ended")
        trial.proxy.release()
        try await eventually { trial.proxy.targets.last?.contains("wait=30") == true }
        let targets = trial.proxy.targets.filter { $0 != "/v1/nonces" }
        #expect(targets.prefix(4).allSatisfy { $0 == "/v1/events?after=latest" })
        #expect(targets.dropFirst(4).allSatisfy { $0.contains("wait=30") })
    }

    /// Changes the ID of an account, as a restore of siwa's database from a backup does.
    static func changedAccount(_ trial: Trial) async throws {
        let app = trial.app
        let subject = try await newSubject(trial)
        let first = try await app.signIn(subject)
        let old = try await trial.siwa.account(subject)["id"]?.string ?? ""
        let new = "acc_00000000-0000-7000-8000-000000000001"
        trial.proxy.rewrite("/v1/sign-ins") { $0.replacing(old, with: new) }
        defer { trial.proxy.stopRewriting() }

        let second = try await app.signIn(subject)
        #expect(second.status == 200 && second.userID == first.userID)
        let shown = try await app.call(.GET, "/me", session: first.session)
        #expect(shown.json?["account_id"]?.string == new)
        // Found by the new ID, also with a session, and still only this user.
        #expect(try await app.signIn(subject).userID == first.userID)
        #expect(try await app.signIn(subject, session: second.session).userID == first.userID)
        let other = try await app.signIn(try await newSubject(trial))
        #expect(other.status == 200 && other.userID != first.userID)
        #expect(try await app.signIn(subject, session: other.session).error == "other_apple_account")
    }

    /// Another caller erases the account, and the user signs in again before the backend reads the event.
    static func erasureReadLate(_ trial: Trial) async throws {
        let app = trial.app
        let subject = try await newSubject(trial)
        let first = try await app.signIn(subject)
        try await erase(subject, in: trial)
        let second = try await app.signInAgain(subject)
        #expect(second.userID == first.userID)
        trial.proxy.release()
        try await eventually { try await !app.isSignedIn(second.session) }
        #expect(try await !app.isSignedIn(first.session))
        let third = try await app.signIn(subject)
        #expect(third.status == 200 && third.userID != first.userID)
    }

    static let lostCursors = [
        DisturbingProxy.Fault(target: "wait=30", status: .conflict, code: "cursor_ahead", times: 1),
        DisturbingProxy.Fault(
            target: "wait=30", status: .ok, content: #"{"events":[],"cursor":"","has_more":false}"#, times: 1),
    ]

    /// The backend has no usable cursor, and does not get the missed events.
    static func beginning(_ trial: Trial, after fault: DisturbingProxy.Fault) async throws {
        let app = trial.app
        let (gone, unknown) = (try await newSubject(trial), try await newSubject(trial))
        let (erased, here) = (try await newSubject(trial), try await newSubject(trial))
        let early = try await app.signIn(gone)
        let (lost, old) = (try await app.signIn(unknown), try await app.signIn(erased))
        let kept = try await app.signIn(here)
        let stopped = try await newSubject(trial)
        let suspended = try await app.signIn(stopped)
        let account = try await trial.siwa.account(stopped)["id"]?.string ?? ""
        try await erase(erased, in: trial)
        try await app.order("/emulator/users/\(gone)/revoke-consent")
        try await change(account, "disable", in: trial, [("reason", .string("fraud"))])
        trial.proxy.rewrite("/v1/credentials/query") { Self.forget(unknown, in: $0) }
        defer { trial.proxy.stopRewriting() }
        trial.proxy.add(fault)
        trial.proxy.release(thenHold: "/v1/credentials/query")

        // The user signs in again while the state is under way. The rule for late readers holds here too.
        try await eventually { trial.proxy.isHolding }
        let late = try await app.signInAgain(gone)
        #expect(late.status == 200 && late.userID == early.userID)
        trial.proxy.release()
        for session in [early.session, lost.session, old.session] {
            try await eventually { try await !app.isSignedIn(session) }
        }
        #expect(try await app.isSignedIn(late.session))
        #expect(try await app.isSignedIn(kept.session))
        #expect(try await app.call(.GET, "/me", session: suspended.session).error == "account_disabled")
        try await change(account, "enable", in: trial)
        try await eventually { try await app.isSignedIn(suspended.session) }
        // A user whose account was erased is deleted, and one whom siwa does not know is not.
        #expect(try await app.signInAgain(unknown).userID == lost.userID)
        #expect(try await app.signInAgain(erased).userID != old.userID)
        // And then the backend goes on with events.
        try await app.order("/emulator/users/\(here)/revoke-consent")
        try await eventually { try await !app.isSignedIn(kept.session) }
    }

    /// Erases an account, and holds back the backend's response with the event.
    private static func erase(_ subject: String, in trial: Trial) async throws {
        let account = try await trial.siwa.account(subject)["id"]?.string ?? ""
        trial.proxy.hold("wait=30")
        #expect(try await trial.siwa.delete("/v1/accounts/\(account)").status <= 202)
    }

    /// Reports one user as unknown to siwa.
    private static func forget(_ subject: String, in list: String) -> String {
        let credential = /\{[^{}]*"sub":"([^"]*)"[^{}]*\}/
        return list.replacing(credential) { match in
            guard match.1 == subject else { return String(match.0) }
            return #"{"sub":"\#(subject)","client_id":"\#(WholeSystem.clientID)","state":"notFound"}"#
        }
    }
}

import AppAttestation
import AppleAccounts
import ArgumentParser
import Composition
import Foundation
import Inspection
import KeySets

/// `siwa verify --emulator`: verifies attestations under the fake Apple's roots. Other inputs are the same as
/// for `siwa verify`.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Verify one attestation of the fake Apple, and print the result of each check and the content.",
        discussion: """
            siwa verify starts this program for --emulator. The exit status is 0 when the attestation is accepted, and 1 \
            when it is refused.
            """)

    @Argument(help: "The object in base64; - reads it from standard input.")
    var object = "-"

    @Option(help: "The kind of input: attestation.")
    var kind = InspectedKind.object(.attestation)

    @OptionGroup(title: "App Attest")
    var attestation: AttestationOptions

    @Option(help: "Verify the input as of this time (RFC 3339) instead of now.")
    var at: Moment?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws { _ = try inspection(at: .last) }

    private func inspection(at moment: Moment) throws -> AttestationInspection {
        guard case .object(let kind) = kind, attestation.emulator else {
            throw ValidationError(
                "siwa-dev verifies attestations with --emulator only; siwa verify is for all other kinds.")
        }
        return try attestation.inspection(of: kind, at: moment, fakeRoots: .fake)
    }

    func run() async throws {
        let text =
            object == "-"
            ? String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines) : object
        let moment = at ?? Moment(milliseconds: SystemKeySetClock().millisecondsSince1970)
        let report = try inspection(at: moment).inspect(text)
        print(json ? report.form.json : report.form.text(in: TerminalStyle.layout))
        if report.error != nil { throw ExitCode(1) }
    }
}

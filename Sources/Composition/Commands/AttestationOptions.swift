package import AppAttestation
package import AppleAccounts
import ArgumentParser
import Encodings
package import Inspection
import JOSE

/// The `siwa verify` options for App Attest objects.
package struct AttestationOptions: ParsableArguments {
    package init() {}

    @Option(name: .customLong("team-id"), help: "The ID of the app's team.")
    var teamID: String?

    @Option(name: .customLong("bundle-id"), help: "The bundle ID of the app.")
    var bundleID: String?

    @Option(help: "The challenge as text. Its SHA-256 is the client data hash.")
    var challenge: String?

    @Option(help: "The client data in base64. Its SHA-256 is the client data hash.")
    var clientData: String?

    @Option(help: "The client data hash itself in base64.")
    var clientDataHash: String?

    @Option(name: .customLong("key-id"), help: "The key ID in base64, for an attestation.")
    var keyID: String?

    @Option(help: "The environment of the key, for an attestation: development or production.")
    var environment: AttestationEnvironment?

    @Option(help: "The platform of the app, for an attestation: ios or macos.")
    var platform = AppPlatform.iOS

    @Flag(help: "Trust the roots of the fake Apple instead of Apple's, for an attestation.")
    package var emulator = false

    @Option(help: "The attested key in base64, as an uncompressed point of 65 bytes, for an assertion.")
    var publicKey: String?

    @Option(help: "The last counter of the key, for an assertion: 0 if there was no assertion.")
    var counter: UInt32?

    /// True if no option is set.
    package var isEmpty: Bool {
        [teamID, bundleID, challenge, clientData, clientDataHash, keyID, publicKey].allSatisfy { $0 == nil }
            && environment == nil && counter == nil && platform == .iOS && !emulator
    }

    /// - Parameter fakeRoots: The root certificates for `--emulator`; `nil` in siwa, because siwa starts
    ///   siwa-dev for this option.
    /// - Throws: `ValidationError` if an option is missing, malformed, or for another kind of object.
    package func inspection(
        of kind: AppAttestationKind, at moment: Moment, fakeRoots: AppAttestRoots? = nil
    ) throws -> AttestationInspection {
        guard let teamID, let bundleID else {
            throw ValidationError("Give --team-id and --bundle-id of the app.")
        }
        guard let appID = AppID(teamID: teamID, bundleID: bundleID) else {
            throw ValidationError(
                "--team-id must have 10 capital letters and digits, and --bundle-id only letters, digits, -, _ and dots."
            )
        }
        return AttestationInspection(
            appID: appID, clientDataHash: try hash(), expectation: try expectation(of: kind, fakeRoots),
            moment: moment)
    }

    private func expectation(
        of kind: AppAttestationKind, _ fakeRoots: AppAttestRoots?
    ) throws -> AttestationInspection.Expectation {
        switch kind {
        case .attestation:
            guard publicKey == nil, counter == nil else {
                throw ValidationError("--public-key and --counter are for --kind assertion.")
            }
            guard let keyID = keyID.flatMap(AttestedKeyID.init(base64:)), let environment else {
                throw ValidationError("Give --key-id, which is 32 bytes in base64, and --environment.")
            }
            guard let roots = emulator ? fakeRoots : .apple else {
                throw ValidationError("--emulator is an option of siwa-dev verify.")
            }
            return .attestation(
                roots: roots, platform: platform, keyID: keyID,
                environment: environment)
        case .assertion:
            guard keyID == nil, environment == nil, platform == .iOS, !emulator else {
                throw ValidationError(
                    "--key-id, --environment, --platform and --emulator are for --kind attestation.")
            }
            guard let point = publicKey.flatMap(Base64.decode), let counter,
                let key = try? ECPublicKey(point: point)
            else {
                throw ValidationError(
                    "Give --public-key, which is an uncompressed point of P-256 in base64, and --counter.")
            }
            return .assertion(key: key, lastCounter: counter)
        }
    }

    private func hash() throws -> ClientDataHash {
        switch (challenge, clientData, clientDataHash) {
        case (let challenge?, nil, nil): return ClientDataHash(hashing: Array(challenge.utf8))
        case (nil, let text?, nil):
            guard let bytes = Base64.decode(text) else {
                throw ValidationError("--client-data must be base64 with padding.")
            }
            return ClientDataHash(hashing: bytes)
        case (nil, nil, let text?):
            guard let hash = Base64.decode(text).flatMap(ClientDataHash.init(bytes:)) else {
                throw ValidationError("--client-data-hash must be 16 to 64 bytes in base64 with padding.")
            }
            return hash
        default: throw ValidationError("Give one of --challenge, --client-data and --client-data-hash.")
        }
    }
}

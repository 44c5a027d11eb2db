import AppleIDClient
import AsyncHTTPClient
import Foundation
import Inspection
import KeySets
import StrictJSON

/// The key source of `siwa verify`: a file, a URL, or Apple.
struct InspectionKeys: InspectedKeySource {
    let file: String?
    let url: String?

    func appleKeys() async throws(KeysUnavailable) -> InspectedKeys {
        let keys = try await load()
        return InspectedKeys(keys, keyIDs: keys.keyIDs)
    }

    func issuerKeys() async throws(KeysUnavailable) -> [JSONValue] {
        let bytes = try await read()
        guard let entries = (try? JSONValue(parsing: bytes))?["keys"]?.array else {
            throw KeysUnavailable(description: "the key set is not a JSON Web Key Set")
        }
        return entries
    }

    private func load() async throws(KeysUnavailable) -> PinnedKeySet {
        if let file {
            do throws(PinnedKeySetError) {
                return try PinnedKeySet(file: file)
            } catch {
                throw KeysUnavailable(
                    description: "the key set in \(file) cannot be used (\(error.code.rawValue))")
            }
        }
        let bytes = try await read()
        do throws(PinnedKeySetError) {
            return try PinnedKeySet(parsing: bytes)
        } catch {
            throw KeysUnavailable(
                description: "the response of \(address) is not a usable key set (\(error.code.rawValue))")
        }
    }

    /// Reads the document, which can be any key set.
    private func read() async throws(KeysUnavailable) -> [UInt8] {
        if let file {
            guard let content = FileManager.default.contents(atPath: file), content.count <= Self.longest
            else {
                throw KeysUnavailable(description: "the key set in \(file) cannot be read")
            }
            return Array(content)
        }
        do {
            return try await fetch(address)
        } catch {
            throw KeysUnavailable(description: "the keys cannot be fetched from \(address)")
        }
    }

    /// In bytes.
    private static let longest = 65_536

    private var address: String { url ?? AppleEndpoints.apple.keySet }

    private func fetch(_ url: String) async throws -> [UInt8] {
        try await HTTPClient.withHTTPClient(configuration: .apple()) { client in
            let response = try await HTTPKeySetSource(client: client, url: url).fetch(ifNoneMatch: nil)
            guard response.status == 200 else {
                throw KeysUnavailable(description: "status \(response.status)")
            }
            return response.body
        }
    }
}

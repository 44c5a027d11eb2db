import AppleIDClient
import AsyncHTTPClient
import Foundation
import KeySets

/// The key source of `siwa verify`: a file, a URL, or Apple.
struct InspectionKeys: Sendable {
    let file: String?
    let url: String?

    struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    /// Throws `Unavailable`, whose description is for the user.
    func load() async throws(Unavailable) -> PinnedKeySet {
        if let file {
            do throws(PinnedKeySetError) {
                return try PinnedKeySet(file: file)
            } catch {
                throw Unavailable(
                    description: "the key set in \(file) cannot be used (\(error.code.rawValue))")
            }
        }
        let bytes = try await read()
        do throws(PinnedKeySetError) {
            return try PinnedKeySet(parsing: bytes)
        } catch {
            throw Unavailable(
                description: "the response of \(address) is not a usable key set (\(error.code.rawValue))")
        }
    }

    /// Reads the document, which can be any key set.
    func read() async throws(Unavailable) -> [UInt8] {
        if let file {
            guard let content = FileManager.default.contents(atPath: file), content.count <= Self.longest
            else {
                throw Unavailable(description: "the key set in \(file) cannot be read")
            }
            return Array(content)
        }
        do {
            return try await fetch(address)
        } catch {
            throw Unavailable(description: "the keys cannot be fetched from \(address)")
        }
    }

    /// In bytes.
    private static let longest = 65_536

    private var address: String { url ?? AppleEndpoints.apple.keySet }

    private func fetch(_ url: String) async throws -> [UInt8] {
        try await HTTPClient.withHTTPClient(configuration: .apple()) { client in
            let response = try await HTTPKeySetSource(client: client, url: url).fetch(ifNoneMatch: nil)
            guard response.status == 200 else { throw Unavailable(description: "status \(response.status)") }
            return response.body
        }
    }
}

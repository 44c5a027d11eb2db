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
        let url = url ?? AppleEndpoints.apple.keySet
        let bytes: [UInt8]
        do {
            bytes = try await fetch(url)
        } catch {
            throw Unavailable(description: "the keys cannot be fetched from \(url)")
        }
        do throws(PinnedKeySetError) {
            return try PinnedKeySet(parsing: bytes)
        } catch {
            throw Unavailable(
                description: "the response of \(url) is not a usable key set (\(error.code.rawValue))")
        }
    }

    private func fetch(_ url: String) async throws -> [UInt8] {
        try await HTTPClient.withHTTPClient(configuration: .apple()) { client in
            let response = try await HTTPKeySetSource(client: client, url: url).fetch(ifNoneMatch: nil)
            guard response.status == 200 else { throw Unavailable(description: "status \(response.status)") }
            return response.body
        }
    }
}

import AppleAccounts
import AppleEmulator
import Foundation
import NIOCore

/// What is said on standard error when a command fails.
enum Complaint {
    static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    /// An error in words that help whoever started the process.
    static func words(for error: any Error) -> String {
        switch error {
        case let error as IOError where error.errnoCode == EADDRINUSE:
            "the address is in use; choose another port"
        case let error as IOError where error.errnoCode == EACCES:
            "this port needs more rights; choose one above 1023"
        case let error as IOError where error.errnoCode == EADDRNOTAVAIL:
            "this machine does not have that address"
        case let error as StorageError: words(for: error)
        default: String(describing: error)
        }
    }

    private static func words(for error: StorageError) -> String {
        // libpq says some things in several lines.
        let detail = error.detail.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return switch error.code {
        case .unavailable: "the database cannot be opened (\(detail))"
        case .busy: "the database is busy, or another process holds it (\(detail))"
        case .full: "the disk is full"
        case .readOnly: "the database is read-only"
        case .corrupted: "the database is damaged (\(detail))"
        case .schemaTooNew: "the database was written by a newer version of siwa"
        case .migrationFailed: "the database cannot be brought up to date (\(detail))"
        case .valueRefused: "the database refused a value"
        }
    }
}

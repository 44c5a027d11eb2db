package import Foundation

/// Creates files that only their owner can read. It sets the mode when it creates the file, because if the
/// mode were changed later, another user could open the file before that and keep it open.
package enum PrivateFile {
    /// Creates a file, but never changes an existing file. Throws `CocoaError` with the code
    /// `.fileWriteFileExists` if the file exists, and with another code if the file cannot be created or
    /// written.
    package static func make(at path: String, content: Data) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CocoaError(errno == EEXIST ? .fileWriteFileExists : .fileWriteUnknown)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: content)
            try handle.synchronize()
            try handle.close()
        } catch {
            // Without this removal, the next start would use the incomplete file.
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }
}

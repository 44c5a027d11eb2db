/// Where a subject stands: the number of its row, and the digest that says where its credentials are.
struct SubjectPlace: Equatable {
    let rowID: Int64
    let digest: KeyDigest
}

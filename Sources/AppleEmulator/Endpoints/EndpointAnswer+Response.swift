import HTTPTypes
import Hummingbird
import NIOCore

extension EndpointAnswer {
    var headerFields: HTTPFields {
        var fields = HTTPFields()
        fields[.contentType] = contentType
        for header in headers {
            if let name = HTTPField.Name(header.name) { fields[name] = header.value }
        }
        return fields
    }

    var response: Response {
        Response(
            status: .init(code: status), headers: headerFields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

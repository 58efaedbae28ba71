package objects

import (
	"crypto/tls"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
)

// maxAnswer is the size, in bytes, of the largest XML that is read of a server.
const maxAnswer = 1 << 20

// errLargeAnswer means that an answer is larger than maxAnswer.
var errLargeAnswer = fmt.Errorf("the answer of the server is larger than %d bytes", maxAnswer)

// Codes of S3 that this package distinguishes from others with the same status.
const (
	codeNoSuchKey    = "NoSuchKey"
	codeNoSuchBucket = "NoSuchBucket"
)

// fullCodes and refusedCodes are codes of S3 whose status does not tell them apart.
var (
	fullCodes    = []string{"InsufficientStorage", "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "StorageFull"}
	refusedCodes = []string{"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthorizationHeaderMalformed", "ExpiredToken", "InvalidToken", "RequestTimeTooSkewed"}
)

// s3Error is the answer of a server that refuses a request.
type s3Error struct {
	status        int
	Code, Message string
}

func (e *s3Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%d %.100s", e.status, e.Code)
	}
	return fmt.Sprintf("%d %.100s: %.500s", e.status, e.Code, e.Message)
}

// transportError returns the error of a request without an answer. It loses the address, because its query may have a signature.
func transportError(err error) error {
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return as(ErrIdentity, certificate)
	}
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err
	}
	return as(ErrUnreachable, err)
}

// readAnswer decodes the XML of a response. The element Error is an error also with the status 200, which S3 sends before it has completed an upload.
func readAnswer(r s3Request, response *http.Response, answer any) error {
	b, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, maxAnswer))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return errLargeAnswer
	case err != nil:
		return as(ErrUnreachable, err)
	}
	if e, ok := decodeError(b); ok {
		e.status = http.StatusInternalServerError
		return e.kind(r)
	}
	if err := xml.Unmarshal(b, answer); err != nil {
		return fmt.Errorf("the server does not answer like S3: %w", err)
	}
	return nil
}

// decodeError returns the error that XML describes. It returns false if the XML is something else.
func decodeError(b []byte) (*s3Error, bool) {
	var answer struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}
	if err := xml.Unmarshal(b, &answer); err != nil {
		return nil, false
	}
	return &s3Error{Code: answer.Code, Message: answer.Message}, true
}

// refusal returns the error of a response whose status is not 2xx. One to HEAD has no body.
func refusal(r s3Request, response *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	e, ok := decodeError(b)
	if !ok || e.Code == "" {
		e = &s3Error{Code: http.StatusText(response.StatusCode)}
	}
	e.status = response.StatusCode
	return e.kind(r)
}

// kind returns the error as one of the kinds of this package.
func (e *s3Error) kind(r s3Request) error {
	switch {
	case slices.Contains(fullCodes, e.Code) || e.status == http.StatusInsufficientStorage:
		return as(ErrFull, e)
	case slices.Contains(refusedCodes, e.Code):
		return as(ErrRefused, e)
	case e.Code == codeNoSuchBucket, r.key == "" && e.status == http.StatusNotFound:
		return e // never fs.ErrNotExist, which would mean that an object is lost
	case e.Code == codeNoSuchKey || e.status == http.StatusNotFound:
		return as(fs.ErrNotExist, e)
	case e.status == http.StatusPreconditionFailed, e.status == http.StatusConflict && e.Code == "ConditionalRequestConflict":
		return as(ErrCondition, e)
	case e.status == http.StatusUnauthorized, e.status == http.StatusForbidden:
		return as(ErrRefused, e)
	case e.status == http.StatusNotImplemented:
		return as(errors.ErrUnsupported, e)
	case e.status >= 300 && e.status < 400:
		return fmt.Errorf("the server redirects, which is not followed: check endpoint and region: %w", e)
	case e.status >= 500, e.status == http.StatusTooManyRequests, e.status == http.StatusRequestTimeout:
		return as(ErrUnreachable, e)
	}
	return e
}

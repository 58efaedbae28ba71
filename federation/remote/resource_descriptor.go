package remote

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"svc/internal/activity"
)

// descriptor is a resource descriptor in JSON (RFC 7033) or XML (RFC 6415): a subject and its links.
type descriptor struct {
	subject string
	links   []link
}

type link struct{ rel, mediaType, href, template string }

const (
	maxLinks    = 500
	maxXMLDepth = 16
)

// parseDescriptor parses a resource descriptor of a media type.
func parseDescriptor(mediaType string, body []byte) (*descriptor, error) {
	if strings.HasSuffix(mediaType, "xml") {
		return parseXRD(body)
	}
	o, err := activity.Parse(body)
	if err != nil {
		return nil, err
	}
	d := &descriptor{subject: o.Text("subject")}
	for _, l := range o.Objects("links", maxLinks) {
		d.links = append(d.links, link{l.Text("rel"), l.Text("type"), l.Text("href"), l.Text("template")})
	}
	return d, nil
}

// parseXRD parses a descriptor in XML. Document types, and with them custom entities, are refused.
func parseXRD(body []byte) (*descriptor, error) {
	in := xml.NewDecoder(bytes.NewReader(body))
	d, depth, subject := new(descriptor), 0, false
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %v", activity.ErrMalformed, err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return nil, fmt.Errorf("%w: XML with a document type", activity.ErrMalformed)
		case xml.StartElement:
			if depth++; depth > maxXMLDepth || len(d.links) == maxLinks {
				return nil, fmt.Errorf("%w: XML that is too deep or too long", activity.ErrMalformed)
			}
			subject = depth == 2 && t.Name.Local == "Subject"
			if depth == 2 && t.Name.Local == "Link" {
				d.links = append(d.links, parseLink(t.Attr))
			}
		case xml.EndElement:
			depth--
			subject = false
		case xml.CharData:
			if subject {
				d.subject = strings.TrimSpace(string(t))
			}
		}
	}
}

func parseLink(attributes []xml.Attr) link {
	var l link
	for _, a := range attributes {
		switch a.Name.Local {
		case "rel":
			l.rel = a.Value
		case "type":
			l.mediaType = a.Value
		case "href":
			l.href = a.Value
		case "template":
			l.template = a.Value
		}
	}
	return l
}
